"""The current differences from the defaults, for all tenants together and for each one."""

from typing import Any

from sandbox import behaviour
from sandbox.faults import store
from sandbox.service.models import Settings, Tenant

_CLOCK = "clock_offset"


def summary() -> dict[str, Any]:
    """Return the differences from the defaults; `calm` is true without any.

    offset: of the common clock; own_clocks, own_settings: tenants that differ; faults: the number of calls that will
    get one; settings: changed for all tenants.
    """
    names = dict(Tenant.objects.values_list("pk", "name"))
    kept = dict(Settings.objects.values_list("key", "values"))
    everybody = kept.pop(behaviour.ALL_TENANTS, {})
    own = [(key, names[key], values) for key, values in kept.items() if key in names]
    found = {
        "offset": everybody.get(_CLOCK),
        "settings": {name: value for name, value in everybody.items() if name != _CLOCK},
        "own_clocks": [(key, name, values[_CLOCK]) for key, name, values in own if _CLOCK in values],
        "own_settings": [(key, name) for key, name, values in own if set(values) - {_CLOCK}],
        "faults": sum(fault["left"] for fault in store.list_remaining()),
    }
    return found | {"calm": not any(found.values())}

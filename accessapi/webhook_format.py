"""The format of a service's notifications: where the record is in the body, and the names of its fields.

The specification does not show the body. The published format is the default; an overrides file may change it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from accessapi.meanings import OverridesTable

_NAME = r"[^.\s]{1,100}"
_HEADER = r"^[A-Za-z0-9-]{1,100}$"
# Names from the outside in, joined by dots: `device.id`.
_Path = Annotated[str, Field(pattern=rf"^{_NAME}(\.{_NAME}){{0,5}}$")]


class FieldNames(OverridesTable):
    """The names of a record's fields in a notification, as paths within the record. Defaults are published."""

    history_id: _Path = "history_id"
    tenant_id: _Path = "tenant_id"
    datetime: _Path = "datetime"
    event: _Path = "event"
    event_name: _Path = "event_name"
    status: _Path = "status"
    category: _Path = "category"
    device_id: _Path = "device_id"
    device_name: _Path = "device_name"
    device_module: _Path = "device_module"
    additional_info: _Path = "additional_info"

    def renamed_fields(self) -> Iterator[tuple[str, list[str]]]:
        """Yield (our name, the path of theirs) for fields with another name."""
        for field, path in self:
            if path != field:
                yield field, path.split(".")


class WebhookFormat(OverridesTable):
    """Headers and body of a notification. Defaults are published.

    `record` is the path of the object that holds the record, "" if that is the body itself.
    """

    id_header: str = Field(default="X-Splats-ID", pattern=_HEADER)
    signature_header: str = Field(default="X-Splats-Signature", pattern=_HEADER)
    record: str = Field(default="", pattern=rf"^({_NAME}(\.{_NAME}){{0,5}})?$")
    names: FieldNames = FieldNames()

    def read_records(self, body: Any) -> Iterator[Any]:
        """Yield the records of a body in the published shape, several if it holds a list.

        A body that is not an object, or without such a path, is yielded unchanged. Renamed fields are looked up in the
        record, then in the body around it; fields under their published name are read too.
        """
        found = list(_each(body, self.record.split("."))) if self.record else []
        for record in found or _each(body, []):
            yield self._to_published(record, body) if isinstance(record, Mapping) else record

    def _to_published(self, found: Mapping[str, Any], body: Any) -> dict[str, Any]:
        record = dict(found)
        for ours, path in self.names.renamed_fields():
            value = _at(found, path)
            value = _at(body, path) if value is None else value
            if value is not None:
                record.pop(path[0], None)
                record[ours] = value
        return record

    def build_body(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return a notification's body in this format, for a record in the published shape."""
        other = dict(self.names.renamed_fields())
        body: dict[str, Any] = {}
        for name, value in record.items():
            _put(body, other.get(name, [name]), value)
        if not self.record:
            return body
        around: dict[str, Any] = {}
        _put(around, self.record.split("."), body)
        return around


def _each(value: Any, path: list[str]) -> Iterator[Any]:
    """Yield the values at the path, through lists on the way."""
    if isinstance(value, list):
        for item in value:
            yield from _each(item, path)
    elif not path:
        yield value
    elif isinstance(value, Mapping) and path[0] in value:
        yield from _each(value[path[0]], path[1:])


def _at(value: Any, path: list[str]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _put(target: dict[str, Any], path: list[str], value: Any) -> None:
    for name in path[:-1]:
        target = target.setdefault(name, {})
    target[path[-1]] = value

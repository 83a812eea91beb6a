"""What staff do to guests and presets.

A change of a guest is one intent, recorded with its audit row before anything is sent. Company, host and presets are
the portal's own: the service hears nothing of them.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max

from portal.core.intents.actions import dispatch, stop
from portal.core.intents.models import Intent, target_of
from portal.core.intents.nonces import Nonce, NotSubmitted
from portal.core.intents.recording import Requester, record_intent
from portal.core.mirror.fields.guests import AREAS, CODE, GUEST, KEYS
from portal.core.mirror.fields.values import NEW_MASK, OLD_MASK
from portal.core.mirror.text_folding import fold
from portal.core.visits.models import Preset, Visit
from portal.guests.places import Host
from tenants import audit
from tenants.roles import Permission
from tenants.wording import coded_sentence

_OPENING_FIELDS = (CODE.name, AREAS.name, KEYS.name)
_AUDITED_FIELDS = ("name", "name_ja", "area_ids", "keys", "minutes", "until", "grace_minutes", "remarks_ja",
"remarks_en",
            "arrives")  # fmt: skip


class WouldReactivate(NotSubmitted):
    """This change would bring a code back to life that somebody cut short."""

    def add_to(self, form: Any) -> None:
        form.resurrects = True


def change_guest(
    *,
    visit: Visit,
    body: Mapping[str, Any],
    by: Requester,
    nonce: Nonce,
    before: Mapping[str, Any] | None = None,
    revive: bool = False,
    act: str = "guest.change",
) -> Intent:
    """Ask for a change (operation 22) of the fields in `body` and of no others.

    `before`: the same fields as they were, for the audit trail. Raises Resurrects for a later end of a code that was
    cut short, unless `revive`: then nobody sees to its end any more as soon as the service took the later one.
    """
    with transaction.atomic():
        row = Visit.objects.select_for_update(of=("self",)).select_related("cut_intent").get(pk=visit.pk)
        lives_again = _reactivates(row, body)
        if lives_again and not revive:
            raise WouldReactivate
        intent, is_new = record_intent(
            by=by,
            permission=Permission.GUESTS_DESK,
            operation="update_guest",
            target=target_of("guest", row.guest_id),
            title=coded_sentence(act, guest=row),
            path={"guest_id": str(row.guest_id)},
            body=dict(body),
            nonce=nonce,
            before=GUEST.audit_values(before or {}, OLD_MASK),
            after=GUEST.audit_values(body),
        )
        if lives_again and is_new:
            Visit.objects.filter(pk=row.pk).update(revive_intent=intent)
    if is_new:
        # A cut that waits would only go first. Not inside, where the locks would be taken in the wrong order.
        if lives_again and row.cut_intent is not None:
            stop(row.cut_intent)
        dispatch(intent)
        intent.refresh_from_db()
    return intent


def _reactivates(visit: Visit, body: Mapping[str, Any]) -> bool:
    """Whether this body makes a code work after the moment at which it was cut short: by a later end, or where it was
    the code and its places that were taken, by any of these.
    """
    if not visit.is_cut or visit.must_end_at is None:
        return False
    if visit.is_disarmed and any(body.get(name) for name in _OPENING_FIELDS):
        return True
    end = body.get("use_date_end")
    return end is not None and datetime.fromisoformat(end) > visit.must_end_at


def save_notes(*, visit: Visit, company: str, host: Host, by: Requester) -> None:
    """Write the portal's own about a visit: company and host. The service hears nothing of it."""
    new = {"company": company, "host_name": host.name}
    old = {"company": visit.company, "host_name": visit.host_name}
    if new == old and host.member_id == visit.host_member_id:
        return
    with transaction.atomic():
        Visit.objects.filter(pk=visit.pk).update(
            company=company, host_name=host.name, host_member_id=host.member_id, host_key=fold(host.name)
        )
        audit.record(
            **by.audit_author,
            action="guest.noted",
            target=f"visit:{visit.pk}",
            summary=coded_sentence("guest.noted"),
            # Named and not told: nothing can ever be taken out of the trail (docs/decisions/0009).
            before={name: OLD_MASK if old[name] else "" for name in old if old[name] != new[name]},
            after={name: NEW_MASK if new[name] else "" for name in new if old[name] != new[name]},
        )


def save_preset(*, preset: Preset | None, columns: Mapping[str, Any], by: Requester) -> Preset:
    """Keep a new preset, last in the order (the first one is the default), or a changed one."""
    with transaction.atomic():
        before = _audited(preset) if preset is not None else None
        if preset is None:
            last = Preset.objects.aggregate(last=Max("position"))["last"]
            preset = Preset(position=0 if last is None else last + 1, is_default=last is None)
        for name, value in columns.items():
            setattr(preset, name, value)
        preset.save()
        _audit(preset, by, "preset.saved", before=before, after=_audited(preset))
    return preset


def delete_preset(*, preset: Preset, by: Requester) -> None:
    """Forget it; if it was the default, the first of the others becomes that."""
    with transaction.atomic():
        _audit(preset, by, "preset.deleted", before=_audited(preset), after=None)
        was_default = preset.is_default
        preset.delete()
        first = Preset.objects.order_by("position", "pk").first()
        if was_default and first is not None:
            Preset.objects.filter(pk=first.pk).update(is_default=True)


def make_default_preset(*, preset: Preset, by: Requester) -> None:
    with transaction.atomic():
        list(Preset.objects.select_for_update().order_by("pk"))
        Preset.objects.filter(is_default=True).update(is_default=False)
        Preset.objects.filter(pk=preset.pk).update(is_default=True)
        _audit(preset, by, "preset.default", before=None, after={"default": preset.name})


def move_preset(*, preset: Preset, up: bool) -> None:
    """Move it one place up or down in the order."""
    with transaction.atomic():
        rows = list(Preset.objects.select_for_update().order_by("position", "pk"))
        here = next((place for place, row in enumerate(rows) if row.pk == preset.pk), None)
        if here is None:
            return
        rows.insert(max(here + (-1 if up else 1), 0), rows.pop(here))
        for place, row in enumerate(rows):
            row.position = place
        Preset.objects.bulk_update(rows, ["position"])


def _audited(preset: Preset) -> dict[str, Any]:
    """Return a preset as the audit trail holds it."""
    values = {name: getattr(preset, name) for name in _AUDITED_FIELDS}
    return values | {"until": f"{preset.until:%H:%M}" if preset.until else None}


def _audit(preset: Preset, by: Requester, action: str, *, before: Any, after: Any) -> None:
    audit.record(
        **by.audit_author,
        action=action,
        target=f"preset:{preset.pk}",
        summary=coded_sentence(action, name=preset.name),
        before=before,
        after=after,
    )

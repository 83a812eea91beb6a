"""Changes that staff make to guests and presets.

A change of a guest is one intent. It is recorded with its audit entry before anything is sent. Company, host and
presets are stored in the portal only and are never sent to the service.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max

from portal.domain.intents.actions import dispatch, stop
from portal.domain.intents.models import Intent, target_of
from portal.domain.intents.nonces import Nonce, NotSubmitted
from portal.domain.intents.recording import Command, Requester, record_intent
from portal.domain.people.fields import NEW_MASK, OLD_MASK
from portal.domain.people.guest_fields import AREAS, CODE, GUEST, KEYS
from portal.domain.people.text_folding import fold
from portal.domain.visits.models import Preset, Visit
from portal.guests.places import Host
from tenants import audit
from tenants.roles import Permission
from tenants.sentences import coded_sentence

_OPENING_FIELDS = (CODE.name, AREAS.name, KEYS.name)
_AUDITED_FIELDS = ("name", "name_ja", "area_ids", "keys", "minutes", "until", "grace_minutes", "remarks_ja",
"remarks_en",
            "arrives")  # fmt: skip


class WouldReactivate(NotSubmitted):
    """The error raised when a change would make a deactivated code work again."""

    def add_to(self, form: Any) -> None:
        form.would_reactivate = True


def change_guest(
    *,
    visit: Visit,
    body: Mapping[str, Any],
    by: Requester,
    nonce: Nonce,
    before: Mapping[str, Any] | None = None,
    reactivate: bool = False,
    title: str = "guest.change",
) -> Intent:
    """Request a change (operation 22) of only the fields in `body`.

    `before` has the former values of these fields for the audit log. Raises WouldReactivate when a deactivated code
    would work again, unless `reactivate` is set. With `reactivate`, the deactivation ends when the service has accepted
    the later end.
    """
    with transaction.atomic():
        row = Visit.objects.select_for_update(of=("self",)).select_related("cut_intent").get(pk=visit.pk)
        if (will_reactivate := _would_reactivate(row, body)) and not reactivate:
            raise WouldReactivate
        command = Command(
            permission=Permission.GUESTS_DESK,
            operation="update_guest",
            target=target_of("guest", row.guest_id),
            title=coded_sentence(title, guest=row),
            path={"guest_id": str(row.guest_id)},
            body=dict(body),
            before=GUEST.audit_values(before or {}, OLD_MASK),
            after=GUEST.audit_values(body),
        )
        intent, is_new = record_intent(command, by=by, nonce=nonce)
        if will_reactivate and is_new:
            Visit.objects.filter(pk=row.pk).update(revive_intent=intent)
    if is_new:
        # A waiting deactivation would be sent first. It is stopped after the transaction, to keep the locks' order.
        if will_reactivate and row.cut_intent is not None:
            stop(row.cut_intent)
        dispatch(intent)
        intent.refresh_from_db()
    return intent


def _would_reactivate(visit: Visit, body: Mapping[str, Any]) -> bool:
    """Return whether this body makes a deactivated code work again.

    It does if the end is later than the moment of deactivation. A code that was replaced, or lost its areas and keys,
    also works again with a new code, area or key.
    """
    if not visit.is_cut or visit.must_end_at is None:
        return False
    if visit.is_disarmed and any(body.get(name) for name in _OPENING_FIELDS):
        return True
    end = body.get("use_date_end")
    return end is not None and datetime.fromisoformat(end) > visit.must_end_at


def save_notes(*, visit: Visit, company: str, host: Host, by: Requester) -> None:
    """Save company and host of a visit. They are stored in the portal only."""
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
            # The audit log gets masks instead of values, because its entries are never deleted (docs/decisions/0009).
            before={name: OLD_MASK if old[name] else "" for name in old if old[name] != new[name]},
            after={name: NEW_MASK if new[name] else "" for name in new if old[name] != new[name]},
        )


def save_preset(*, preset: Preset | None, columns: Mapping[str, Any], by: Requester) -> Preset:
    """Save a new or changed preset. A new one goes last in the order; the first preset ever saved is the default."""
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
    """Delete the preset. If it was the default, the first of the others becomes the default."""
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
    """Move the preset one place up or down in the order."""
    with transaction.atomic():
        rows = list(Preset.objects.select_for_update().order_by("position", "pk"))
        position = next((place for place, row in enumerate(rows) if row.pk == preset.pk), None)
        if position is None:
            return
        rows.insert(max(position + (-1 if up else 1), 0), rows.pop(position))
        for place, row in enumerate(rows):
            row.position = place
        Preset.objects.bulk_update(rows, ["position"])


def _audited(preset: Preset) -> dict[str, Any]:
    """Return the preset's values for the audit log."""
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

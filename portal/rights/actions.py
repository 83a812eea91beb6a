"""Request changes of members' rights, and change the tenant's rights templates."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import override

from accessapi.permissions import by_schedule, no_access, weekly
from accessapi.permissions.passes import WEEKDAYS, Json
from accessapi.resources import write_moment
from portal.base.ui.shown_values import seal, unseal_or_none
from portal.domain.intents.actions import submit
from portal.domain.intents.form_handling import AfterSubmit, address_of_target
from portal.domain.intents.models import Intent, target_of
from portal.domain.intents.nonces import Nonce, NotSubmitted
from portal.domain.intents.recording import Command, Requester
from portal.domain.jobs.bulk_executor import is_under_way
from portal.domain.people.member_fields import RIGHTS_NAMES
from portal.domain.people.models import Member
from portal.domain.rights import member_rights, words
from portal.domain.rights.member_rights import MemberRights, canonical, digest, is_same_json
from portal.domain.rights.models import RightsTemplate
from portal.domain.rights.sheet import RightsSheet
from portal.domain.sync.single_reads import ReadFailed, read_for_page
from portal.rights import comparing
from tenants import audit
from tenants.roles import Permission
from tenants.sentences import coded_sentence


def seal_read(member: Member, read: MemberRights) -> str:
    """Return the rights that the form is based on, sealed for its hidden input `seen`."""
    at = write_moment(read.read_at) if read.read_at else ""
    return seal([read.parts, at], f"seen {member.member_id}")


def unseal_read(member: Member, text: str) -> MemberRights | None:
    """Return the rights that a posted form is based on; None if they are not this member's."""
    found = unseal_or_none(text, f"seen {member.member_id}")
    if found is None:
        return None
    parts, at = found
    return MemberRights.of(parts, datetime.fromisoformat(at) if at else None)


def changed_parts(read: MemberRights, requested: Mapping[str, Any]) -> dict[str, Any]:
    """Return what to send: the parts whose meaning changed, each as a whole."""
    old, new = canonical(read.parts), canonical({**read.parts, **requested})
    old |= {name: value or no_access() for name, value in old.items() if name != "privilege"}
    return {name: new[name] for name in RIGHTS_NAMES if name in requested and not is_same_json(old[name], new[name])}


def with_missing_parts(read: MemberRights | None, parts: list[str]) -> dict[str, Any]:
    """Return the known rights. The given parts that the service did not return are added as empty."""
    known = dict(read.parts) if read else {}
    for part in ("devices", "keys"):
        if part in parts and known and known[f"{part}_pass"] is None:
            known[f"{part}_pass"] = no_access()
    return known


def read_rights(member: Member) -> tuple[MemberRights | None, str]:
    """Return the member's rights, read with one API call. On failure, return the known rights and the reason."""
    gone = _("This member no longer exists in the service.")
    try:
        return read_for_page(lambda connection: member_rights.read_rights(connection, member.member_id), gone), ""
    except ReadFailed as why:
        return None if why.is_gone else member_rights.rights_in_mirror(member), why.text


@dataclass(eq=False)
class RightsConflict(NotSubmitted):
    """Raised when another person changed the rights. It has the old, the present and the wanted rights.

    `sheet` is what the form shows next: both changes merged, or only mine if they are contradictory
    (`is_contradictory`).
    """

    before: MemberRights
    now: MemberRights
    edited: dict[str, Any]
    sheet: RightsSheet
    is_contradictory: bool

    def add_to(self, form: Any) -> None:
        form.read, form.sheet, form.clash = self.now, self.sheet, self


def find_conflict(before: MemberRights, current: MemberRights, changes: dict[str, Any]) -> RightsConflict | None:
    """Return the conflict, or None if nothing changed."""
    if digest(before.parts) == digest(current.parts):
        return None
    edited = {**before.parts, **changes}
    try:
        together = comparing.merge_changes(before.parts, edited, current.parts)
    except comparing.MergeConflict:
        return RightsConflict(
            before, current, edited, RightsSheet.of({**current.parts, **changes}), is_contradictory=True
        )
    return RightsConflict(before, current, edited, RightsSheet.of(together), is_contradictory=False)


class NothingToChange(Exception):
    """Raised when the member already has these rights, so that no request is needed."""


@dataclass
class Problems:
    """Messages for the top of the form about why nothing was sent."""

    problems: list[str] = field(default_factory=list, kw_only=True)
    refused: Intent | None = field(default=None, kw_only=True)
    fields: ClassVar[dict[str, Any]] = {}

    @property
    def errors(self) -> list[str]:
        return self.problems

    def add_error(self, _field: str | None, error: Any) -> None:
        self.problems.append(str(error))


@dataclass
class RightsEditor(Problems):
    """The editor as it is drawn: the rights that were read, the form's sheet, and the problems with saving it."""

    member: Member
    read: MemberRights | None
    sheet: RightsSheet
    is_unsaved: bool = False
    clash: RightsConflict | None = None


def change_rights(
    *, member: Member, read: MemberRights, body: Mapping[str, Any], by: Requester, nonce: Nonce
) -> Intent:
    """Request other rights.

    Raises NotSubmitted if another person changed them. The same form returns the same intent.
    """
    sent_before = Intent.objects.filter(nonce=nonce.value).exists()
    if not sent_before and (clash := find_conflict(read, _current_rights(member), dict(body))):
        raise clash
    return submit_rights(member=member, body=body, read=read, by=by, nonce=nonce)


def replace_rights(*, member: Member, body: Mapping[str, Any], by: Requester, nonce: Nonce) -> Intent:
    """Request the parts in `body` in place of the member's present ones. Raises NothingToChange and NotSubmitted."""
    now = _current_rights(member)
    changed = changed_parts(now, body)
    if not changed:
        raise NothingToChange
    return submit_rights(member=member, body=changed, read=now, by=by, nonce=nonce)


def submit_rights(
    *, member: Member, body: Mapping[str, Any], read: MemberRights, by: Requester, nonce: Nonce, inline: bool = True
) -> Intent:
    """Request the parts in `body` ("devices_pass", "keys_pass", "privilege"). Each replaces the whole object.

    This is one intent (operation 6). `read_rights` is what the change is based on. The audit log gets the old and new
    values: each changed place in words, then the parts as JSON.
    """
    changed = words.differences(read.parts, {**read.parts, **body}, words.load_place_names())
    return submit(
        Command(
            permission=Permission.RIGHTS_EDIT,
            operation="update_member",
            target=target_of("member", member.member_id),
            title=coded_sentence("member.rights", name=member),
            path={"member_id": member.member_id},
            body=dict(body),
            before={_audit_field(each.place): each.before for each in changed}
            | {name: read.parts.get(name) for name in body},
            after={_audit_field(each.place): each.after for each in changed} | dict(body),
        ),
        by=by,
        nonce=nonce,
        inline=inline,
    )


def _audit_field(place: str) -> str:
    """Return a place as a field name of the audit log. A full stop would be taken as a nested field."""
    return place.replace(".", "·") or "–"


def _current_rights(member: Member) -> MemberRights:
    """Return the service's present rights. Raises NotSubmitted, also during a bulk change of this member.

    Two changes that replace a member's whole rights at the same time would undo each other.
    """
    if is_under_way(member.member_id):
        raise NotSubmitted(_("Nothing was sent: a bulk change is updating this member. Try again soon."))
    now, trouble = read_rights(member)
    if now is None or trouble:
        text = _("Nothing was sent: the current rights could not be loaded. Try again later.")
        raise NotSubmitted(f"{text} {trouble}".strip())
    return now


# After a change of rights, redirect to the member's page.
REDIRECT_TO_MEMBER = AfterSubmit(to=partial(address_of_target, route="members:page", name="member_id"))


@dataclass(frozen=True)
class SuggestedTemplate:
    """A suggested template. Nothing is stored until a person adds it."""

    key: str
    name: str
    name_ja: str
    pass_: Json

    @property
    def title(self) -> str:
        return _(self.name)


def suggested_templates() -> list[SuggestedTemplate]:
    """Return suggestions for office hours and cleaning."""
    office, cleaning = "Office hours", "Cleaning"
    return [
        SuggestedTemplate(
            "office", office, _in_japanese(office), by_schedule(weekly("08:00:00", "19:00:00", *WEEKDAYS[:5]))
        ),
        SuggestedTemplate(
            "cleaning",
            cleaning,
            _in_japanese(cleaning),
            by_schedule(weekly("06:00:00", "08:00:00", *WEEKDAYS[:6]), weekly("19:00:00", "22:00:00", *WEEKDAYS[:5])),
        ),
    ]


def _in_japanese(name: str) -> str:
    _("Office hours"), _("Cleaning")  # so that they are collected for translation
    with override("ja"):
        return _(name)


class NameTaken(Exception):
    """Another template got this name at the same moment."""


def save_template(*, by: Requester, template: RightsTemplate | None = None, **values: Any) -> RightsTemplate:
    """Store a new template or the changed values of one, with its audit row. Raises NameTaken."""
    try:
        return _save_row(by, template, values)
    except IntegrityError as error:
        raise NameTaken from error


def _save_row(by: Requester, template: RightsTemplate | None, values: Mapping[str, Any]) -> RightsTemplate:
    with transaction.atomic():
        row = template or RightsTemplate(tenant=by.tenant)
        before = _template_values(row) if row.pk else None
        for name, value in values.items():
            setattr(row, name, value)
        row.by, row.changed_at = by.user, Now()
        row.save()
        _audit_template(
            row, by, "rights_template.change" if before else "rights_template.create", before, _template_values(row)
        )
    return row


def delete_template(*, template: RightsTemplate, by: Requester) -> None:
    """Delete a template. Rights that were given from it do not change."""
    with transaction.atomic():
        before = _template_values(template)
        pk = template.pk
        template.delete()
        template.pk = pk
        _audit_template(template, by, "rights_template.delete", before, None)


def _audit_template(row: RightsTemplate, by: Requester, action: str, before: Any, after: Any) -> None:
    audit.record(
        **by.audit_author,
        action=action,
        target=f"rights_template:{row.pk}",
        summary=coded_sentence(action, name=row.name),
        before=before,
        after=after,
    )


def _template_values(row: RightsTemplate) -> dict[str, Any]:
    """Return the template for the audit log, with rights as they are sent."""
    named = {"name": row.name, "name_ja": row.name_ja}
    if row.kind == RightsTemplate.Kind.SCHEDULE:
        return {**named, "schedule": row.schedule}
    return {**named, "devices_pass": row.devices_pass, "keys_pass": row.keys_pass}


def template_words(values: Mapping[str, Any]) -> dict[str, str]:
    """Return a template of the audit log in the reader's words."""
    if "schedule" in values:
        return {"when": words.pass_text(values["schedule"])}
    return {"when": words.summary_text(values, words.load_place_names())}

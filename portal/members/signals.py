"""Register what the app offers to others, and follow up requests about members."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, ngettext_lazy

from accessapi.errors import NotFound
from accessapi.limits import FACE_READY_SECONDS
from accessapi.meanings import RefusalCause
from accessapi.operations import Contract
from accessapi.resources import write_moment
from accessapi.resources.members import Member
from portal.base.timers.clock import database_now
from portal.base.ui import batching, command_palette, nav
from portal.base.ui.nav import NavEntry
from portal.base.ui.times import local
from portal.base.ui.value_words import join_sentences, join_values
from portal.domain import events
from portal.domain.budget.client import client
from portal.domain.budget.priorities import Priority
from portal.domain.events import MirrorKind
from portal.domain.history import request_matching
from portal.domain.history.request_matching import RecordContent
from portal.domain.intents import handlers, refusals
from portal.domain.intents.handlers import Finding, OutcomeText
from portal.domain.intents.models import Intent, Reason, State, target_of
from portal.domain.people.member_fields import MEMBER, RIGHTS_NAMES
from portal.domain.people.queries import group_names
from portal.domain.rights.member_rights import is_as_sent
from portal.domain.sync import freshness, local_writes, schedule, single_reads
from portal.members import faces, queries, temporary_keys
from tenants.audit_log import queries as trail
from tenants.connections.service_clients import current_connection
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject, register_targets

# The pause before checking again whether the list has been read.
_RECHECK_AFTER = timedelta(seconds=3)
# The service needs more time for pictures than for other requests.
FACE_DELAY = timedelta(minutes=3)
_FACE_WORDS = {
    "failed_registered": gettext_noop("This picture is already used by another registration."),
    "failed_member": gettext_noop("The service did not find the member."),
}
_FACE_UNKNOWN = gettext_noop("The service refused the picture for an unknown reason.")


def on_created(intent: Intent) -> None:
    """Save the new member in the mirror, and the member's ID in the intent."""
    if intent.state != State.SUCCEEDED:
        return
    member_id = str(intent.result.get("member_id") or (intent.result.get("evidence") or {}).get("member_id") or "")
    if not member_id:  # a person confirmed it; only the list shows which member it is
        schedule.request_reading(intent.tenant, MirrorKind.MEMBERS, by=None)
        return
    local_writes.apply_member_write(intent.tenant, member_id, intent.body, created=True)
    intent.target = target_of("member", member_id)
    Intent.objects.filter(pk=intent.pk).update(target=intent.target)


def on_updated(intent: Intent) -> None:
    if intent.state == State.SUCCEEDED:
        local_writes.apply_member_write(intent.tenant, intent.path["member_id"], intent.body)


def on_deleted(intent: Intent) -> None:
    """Delete the member from the mirror, also if the service did not find it."""
    if intent.state == State.SUCCEEDED or (intent.state == State.FAILED and intent.http_status == 404):
        local_writes.apply_member_deletion(intent.tenant, intent.path["member_id"])
        faces.delete_portraits([intent.path["member_id"]])


def reconcile_created(intent: Intent) -> Finding:
    """Wait for a list that was read after the request, and look for a new member in it.

    It uses the mirror's own sync: one call for each 1,000 members, shared by all requests that wait.
    """
    body, known = intent.body, (intent.snapshot or {}).get("known", [])
    since = handlers.next_useful_reading_at(intent)
    at = schedule.request_reading_since(intent.tenant, MirrorKind.MEMBERS, since)
    if at is None:
        return Finding(None, intent.result.get("evidence") or {}, retry_at=max(since, database_now()) + _RECHECK_AFTER)
    candidates, evidence = queries.find_candidates(body, known), {"read": write_moment(at)}
    if len(candidates.with_code_or_card) == 1 and queries.has_sent_values(candidates.with_code_or_card[0], body):
        return Finding(True, {**evidence, "member_id": candidates.with_code_or_card[0].member_id})
    if candidates.with_code_or_card or candidates.with_same_name:
        alike = [member.member_id for member in (*candidates.with_code_or_card, *candidates.with_same_name)]
        return Finding(None, {**evidence, "may be": ", ".join(alike[:10])})
    return handlers.check_absence(intent, at, evidence)


def _reread_member(
    intent: Intent, compare: Callable[[Member], tuple[bool, dict[str, str]]], *, absent: bool, **missing: Any
) -> Finding:
    """Read the member once and compare it.

    `compare` returns whether it is as requested, and what it saw. `absent` is the result for a member that does not
    exist.
    """
    at = database_now()
    try:
        member = single_reads.read_member(
            current_connection(), intent.path["member_id"], Priority.PEOPLE, is_unshared=True
        )
    except NotFound:
        return Finding(absent, {"read": write_moment(at), "member": "not there"})
    is_as_requested, details = compare(member)
    evidence = {"read": write_moment(at), **details}
    return Finding(True, evidence) if is_as_requested else handlers.check_absence(intent, at, evidence, **missing)


def reconcile_updated(intent: Intent) -> Finding:
    """Compare all fields that were sent with the service."""

    def compare(member: Member) -> tuple[bool, dict[str, str]]:
        values = member.model_dump(mode="python")
        differs = sorted(name for name, value in intent.body.items() if not _agrees(name, value, values.get(name)))
        return not differs, {"differs": ", ".join(differs)} if differs else {}

    return _reread_member(intent, compare, absent=False)


def _agrees(name: str, requested: Any, current: Any) -> bool:
    return is_as_sent(name, requested, current) if name in RIGHTS_NAMES else MEMBER.is_same(name, requested, current)


def reconcile_deleted(intent: Intent) -> Finding:
    """Check whether the member is gone: then the deletion succeeded."""
    return _reread_member(intent, lambda _member: (False, {"member": "still there"}), absent=True)


def on_face_registered(intent: Intent) -> None:
    if intent.state == State.SUCCEEDED or _has_face(intent):
        local_writes.apply_member_write(intent.tenant, intent.path["member_id"], {"face_data": True})


def _has_face(intent: Intent) -> bool:
    """Check whether the service refused because this member already has a face."""
    return intent.state == State.FAILED and refusals.is_refused_for(intent, RefusalCause.DUPLICATE, "face")


def on_face_deleted(intent: Intent) -> None:
    if intent.state == State.SUCCEEDED:
        local_writes.apply_member_write(intent.tenant, intent.path["member_id"], {"face_data": None})
    faces.finish_replacement(intent)


def reconcile_face(intent: Intent, *, is_registered: bool = True) -> Finding:
    """Check for a face. If there is one now, it was registered: an existing face would have been refused."""

    def compare(member: Member) -> tuple[bool, dict[str, str]]:
        return bool(member.face_data) == is_registered, {"face": "registered" if member.face_data else "none"}

    refused = intent.reason == Reason.REFUSED  # the service has answered, so no request is still on its way
    return _reread_member(intent, compare, absent=not is_registered, min_interval=FACE_DELAY, is_over=refused)


def reconcile_keys(intent: Intent) -> Finding:
    """Look for our text in the logs since the request (operation 11, `info`). A missing record proves nothing."""
    at = database_now()
    since = (intent.sent_at or intent.created_at) - request_matching.EARLIER
    query = {"since": write_moment(since), "until": write_moment(at + timedelta(seconds=60)), "limit": 1000}
    with client(current_connection(), Priority.DOORS) as service:
        data = service.call("list_histories", query=query).data
    records = [RecordContent.from_service(each) for each in data.get("histories", ()) if isinstance(each, dict)]
    matching = [each for each in records if request_matching.is_named_by(each, intent)]
    others = Intent.objects.filter(target=intent.target, operation=intent.operation, sent_at__gte=since)
    proven = bool(matching) and not others.exclude(pk=intent.pk).exists()
    return Finding(proven or None, {"read": write_moment(at), "logs": len(matching)})


def face_effect(intent: Intent) -> OutcomeText:
    """Return the outcome of a face registration: what failed and what to do, or from when it can be used."""
    if intent.state == State.ACCEPTED:
        return OutcomeText(_("The service is checking the picture. You can close this page."))
    if intent.state == State.SUCCEEDED and intent.finished_at:
        ready = local(intent.finished_at + timedelta(seconds=FACE_READY_SECONDS))
        return OutcomeText(_("The face opens doors from %(time)s.") % {"time": f"{ready:%H:%M:%S}"})
    if intent.state == State.FAILED and intent.reason == Reason.REQUEST_FAILED:
        failed = [_(_FACE_WORDS.get(intent.error_detail, _FACE_UNKNOWN)), _("No face was registered.")]
        return OutcomeText(" ".join(failed), [_("Take another picture and register it.")])
    if _has_face(intent):
        return OutcomeText(
            _("No face was registered: this member already has one. Delete it first to replace it."),
            [_("Register the picture again to replace it.")],
        )
    if intent.state == State.CANCELLED and intent.reason == Reason.STEP_MISSING:
        return OutcomeText(_("The current face was not deleted, so the new one was not sent."))
    return _without_contract(intent)


def face_deletion_effect(intent: Intent) -> OutcomeText:
    if intent.state == State.SUCCEEDED:
        return OutcomeText(_("This member's face opens no door until one is registered again."))
    return _without_contract(intent)


def _without_contract(intent: Intent) -> OutcomeText:
    if intent.state != State.FAILED or refusals.missing_contract(intent) != Contract.FACE:
        return OutcomeText()
    return _not_allowed(_("Face recognition is not in the contract. Ask the vendor to add it."))


def _not_allowed(text: str) -> OutcomeText:
    return OutcomeText(join_sentences([_("The service does not allow this."), text]))


def keys_effect(intent: Intent) -> OutcomeText:
    """Return the outcome of temporary keys: which keys, until when, and which key boxes were not reached."""
    if intent.state == State.UNCERTAIN:
        may = _("The keys may be available. The request will not be sent again.")
        return OutcomeText(may, [_("Check the key box before you try again: a repeated request extends the time.")])
    if intent.state == State.FAILED and refusals.is_refused_for(intent, RefusalCause.SETTING):
        needs = _(
            "The member needs permission for the key, and the key box must allow keys not normally used. "
            "Set both on the member site."
        )
        return _not_allowed(needs)
    return _keys_sent(intent, intent.body or {}) if intent.state == State.SUCCEEDED else OutcomeText()


def _keys_sent(intent: Intent, body: dict[str, Any]) -> OutcomeText:
    units = {each["device_id"]: each["unit_no_list"] for each in body.get("targets_list", ())}
    known, sent, sentences = temporary_keys.box_names(units), intent.result.get("sent_device_id_list"), []
    reached = {box: numbers for box, numbers in units.items() if not isinstance(sent, list) or box in sent}
    if reached:
        facts = {"keys": temporary_keys.keys_text(reached, known), "time": temporary_keys.duration_text(body["timer"])}
        sentences.append(_("%(keys)s, for %(time)s.") % facts)
    if missed := [known.get(box, box) for box in units if box not in reached]:
        sentences.append(_("Could not be reached, unchanged: %(boxes)s.") % {"boxes": join_values(missed)})
    return OutcomeText(" ".join(sentences))


nav.register(NavEntry("members", gettext_lazy("Members"), "users", "members:index", Permission.MEMBERS_VIEW))
batching.register_query("groups", group_names, on_every_page=False)
trail.register_search(queries.trail_condition)
unread = partial(freshness.describe_unread, kind=MirrorKind.MEMBERS)
command_palette.register(
    "members", gettext_lazy("Members"), queries.find_hits, Permission.MEMBERS_VIEW, unread, queries.search_hint
)
events.subscribe(MirrorKind.MEMBERS, faces.delete_orphan_portraits)

handlers.register("create_member", on_finished=on_created, reconcile=reconcile_created)
handlers.register("update_member", on_finished=on_updated, reconcile=reconcile_updated)
handlers.register("delete_member", on_finished=on_deleted, reconcile=reconcile_deleted)
handlers.register(
    faces.REGISTER,
    on_finished=on_face_registered,
    reconcile=reconcile_face,
    describe=face_effect,
)
handlers.register(
    faces.DELETE,
    on_finished=on_face_deleted,
    reconcile=partial(reconcile_face, is_registered=False),
    describe=face_deletion_effect,
)
handlers.register(temporary_keys.OPERATION, reconcile=reconcile_keys, describe=keys_effect)


register_subject(
    "members",
    gettext_lazy("Members"),
    "member members create_member update_member delete_member temporary_use one_time_qr"
    " register_profile_image register_face_image delete_face_image",
)
register_sentences(
    {
        "member.create": gettext_lazy("Create member: %(name)s"),
        "member.change": gettext_lazy("Change member: %(name)s"),
        "member.delete": gettext_lazy("Delete member: %(name)s"),
        "member.temporary_keys": gettext_lazy("Temporary keys: %(name)s"),
        "member.profile_picture": gettext_lazy("Profile picture: %(name)s"),
        "member.register_face": gettext_lazy("Register face: %(name)s"),
        "member.delete_face": gettext_lazy("Delete face: %(name)s"),
        "member.reveal_card": gettext_lazy("Card number shown: %(name)s"),
        "member.reveal_qr": gettext_lazy("QR data shown: %(name)s"),
        "member.reveal_one_time": gettext_lazy("One-time code shown: %(name)s"),
        "members.export": ngettext_lazy("%(n)s member exported as %(kind)s", "%(n)s members exported as %(kind)s", "n"),
    }
)
register_targets({"member": gettext_lazy("Member"), "members": gettext_lazy("Members")})

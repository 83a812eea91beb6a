"""What follows when a face, a profile picture or temporary keys come to something, and how it is said."""

from collections.abc import Iterator
from datetime import timedelta

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accessapi.errors import NotFound
from accessapi.limits import FACE_READY_SECONDS
from accessapi.meanings import Blame
from accessapi.operations import Contract
from accessapi.resources import write_moment
from portal.core.budget.client import client
from portal.core.budget.priorities import Priority
from portal.core.intents import evidence, handlers, refusals
from portal.core.intents.handlers import Finding, Told
from portal.core.intents.models import Intent
from portal.core.intents.states import Reason, State
from portal.core.mirror import own, reading
from portal.core.timers.clock import database_now
from portal.core.ui.times import local
from portal.members import faces, temporary
from tenants.connections.service import current_connection

# The service looks at a picture for longer than at anything else.
FACE_APART = timedelta(minutes=3)
_WORDS = {
    "failed_registered": gettext_noop("This picture is already used by another registration."),
    "failed_member": gettext_noop("The service did not find the member."),
}
_UNKNOWN = gettext_noop("The service refused the picture for an unknown reason.")


def face_registered(intent: Intent) -> None:
    if intent.state == State.SUCCEEDED or _has_one(intent):
        own.member_written(intent.tenant, intent.path["member_id"], {"face_data": True})


def _has_one(intent: Intent) -> bool:
    """Whether the service refused because this member has a face already."""
    return intent.state == State.FAILED and refusals.is_for_want_of(intent, Blame.DUPLICATE, "face")


def face_deleted(intent: Intent) -> None:
    if intent.state == State.SUCCEEDED:
        own.member_written(intent.tenant, intent.path["member_id"], {"face_data": None})
    faces.deleted(intent)


def look_for_face(intent: Intent) -> Finding:
    """Read the member: a face that is there now was registered (before there was none, else it had been refused)."""
    return _look(intent, wanted=True)


def look_for_no_face(intent: Intent) -> Finding:
    return _look(intent, wanted=False)


def _look(intent: Intent, *, wanted: bool) -> Finding:
    at = database_now()
    try:
        member = reading.read_member(current_connection(), intent.path["member_id"], Priority.PEOPLE, alone=True)
    except NotFound:
        return Finding(not wanted, {"read": write_moment(at), "member": "not there"})
    told = {"read": write_moment(at), "face": "registered" if member.face_data else "none"}
    if bool(member.face_data) == wanted:
        return Finding(True, told)
    refused = intent.reason == Reason.REFUSED  # the service said so: nothing is still on its way
    return evidence.missing(intent, at, told, apart=FACE_APART, is_over=refused)


def look_for_keys(intent: Intent) -> Finding:
    """Read the logs since it was sent: our words are kept there (operation 11, `info`). Silence proves nothing."""
    at, body = database_now(), intent.body or {}
    since = (intent.sent_at or intent.created_at) - timedelta(seconds=5)
    query = {"since": write_moment(since), "until": write_moment(at + timedelta(seconds=60)), "limit": 1000}
    with client(current_connection(), Priority.DOORS) as service:
        told = service.call("list_histories", query=query).data
    boxes = {target["device_id"] for target in body.get("targets_list", ())}
    ours = [
        each for each in told.get("histories", ()) if isinstance(each, dict) and _is_ours(each, intent, body, boxes)
    ]
    found: dict[str, object] = {"read": write_moment(at), "logs": len(ours)}
    others = Intent.objects.filter(target=intent.target, operation=intent.operation, sent_at__gte=since)
    return Finding(True if ours and not others.exclude(pk=intent.pk).exists() else None, found)


def _is_ours(record: dict[str, object], intent: Intent, body: dict[str, str], boxes: set[str]) -> bool:
    member, device = record.get("member"), record.get("device")
    if not isinstance(member, dict) or not isinstance(device, dict) or not body.get("info"):
        return False
    named = member.get("id") == intent.path["member_id"] and device.get("id") in boxes
    return named and any(body["info"] in text for text in _texts(record))


def _texts(value: object) -> Iterator[str]:
    """Every text of a record: where the service keeps our words is not shown, only that it does."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def face_words(intent: Intent) -> Told:
    """A face's registration in words: what failed and how to mend it, from when on it can be used."""
    if intent.state == State.ACCEPTED:
        return Told(_("The service is checking the picture. You can close this page."))
    if intent.state == State.SUCCEEDED and intent.finished_at:
        ready = local(intent.finished_at + timedelta(seconds=FACE_READY_SECONDS))
        return Told(_("The face opens doors from %(time)s.") % {"time": f"{ready:%H:%M:%S}"})
    if intent.state == State.FAILED and intent.reason == Reason.REQUEST_FAILED:
        words = _WORDS.get(intent.error_detail, _UNKNOWN)
        return Told(f"{_(words)} {_('No face was registered.')}", [_("Take another picture and register it.")])
    if intent.state == State.FAILED and refusals.contract(intent) == Contract.FACE:
        return Told(_no_contract(_("Face images need the face-recognition option contract.")))
    if _has_one(intent):
        return Told(
            _("This member already has a registered face. Nothing was registered."),
            [_("Register the picture again to replace it.")],
        )
    if intent.state == State.CANCELLED and intent.reason == Reason.STEP_MISSING:
        return Told(_("The current face was not deleted, so the new one was not sent."))
    return Told()


def face_deletion_words(intent: Intent) -> Told:
    if intent.state == State.SUCCEEDED:
        return Told(_("This member's face opens no door until one is registered again."))
    if intent.state == State.FAILED and refusals.contract(intent) == Contract.FACE:
        return Told(_no_contract(_("Face images need the face-recognition option contract.")))
    return Told()


def keys_words(intent: Intent) -> Told:
    """Temporary keys in words: which, until when, and which key box was not reached."""
    body = intent.body or {}
    units = {each["device_id"]: each["unit_no_list"] for each in body.get("targets_list", ())}
    known = temporary.names(units)
    if intent.state == State.UNCERTAIN:
        may = _("The keys may be available. The request will not be sent again.")
        return Told(may, [_("Check the key box before you try again: a repeated request extends the time.")])
    if intent.state == State.FAILED and refusals.is_for_want_of(intent, Blame.SETTING):
        needs = _(
            "The member needs permission for the key, and the key box needs its setting for keys "
            "not normally used. Set both on the member site."
        )
        return Told(_no_contract(needs))
    if intent.state != State.SUCCEEDED:
        return Told()
    sent = intent.result.get("sent_device_id_list")
    reached = {box: numbers for box, numbers in units.items() if not isinstance(sent, list) or box in sent}
    missed = ", ".join(known.get(box, box) for box in units.keys() - reached.keys())
    words = temporary.words_of(reached, known)
    told = (
        [_("%(keys)s, for %(time)s.") % {"keys": words, "time": temporary.duration(body["timer"])}] if reached else []
    )
    told += [_("Could not be reached, unchanged: %(boxes)s.") % {"boxes": missed}] if missed else []
    return Told(" ".join(told))


def _no_contract(words: str) -> str:
    return f"{_('The service does not allow this.')} {words}"


def register() -> None:
    handlers.register(faces.REGISTER, finished=face_registered, reconcile=look_for_face, words=face_words)
    handlers.register(faces.DELETE, finished=face_deleted, reconcile=look_for_no_face, words=face_deletion_words)
    handlers.register(temporary.OPERATION, reconcile=look_for_keys, words=keys_words)

"""The status of a member as shown on pages: use period and credentials."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from operator import attrgetter

from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _

from portal.base.ui.chips import Chip, icon
from portal.base.ui.tables.columns import EMPTY_CELL
from portal.domain.people.models import UNREADABLE, Member

# The field of a credential, its icon and its name.
_CREDENTIALS = (
    ("has_card", "id", gettext_noop("Card")),
    ("has_qr", "qrcode", gettext_noop("QR code")),
    ("has_face", "face-id", gettext_noop("Face")),
)


def state_of(member: Member, now: datetime | None = None) -> str:
    """Return the state of the use period at `now`, as the state of a chip. Without limits a member is valid.

    "suspended" needs rows from `portal.domain.jobs.suspensions.with_suspended_flag`: the period was ended by staff
    here.
    """
    now = now or timezone.now()
    if member.use_end_key == UNREADABLE:
        return "unknown"
    if member.use_date_end is not None and member.use_date_end < now:
        return "suspended" if getattr(member, "suspended", False) else "ended"
    if member.use_date_start is not None and member.use_date_start > now:
        return "not_yet"
    return "valid"


def validity_of(member: Member, now: datetime | None = None) -> Chip:
    """Return the same as a chip."""
    return _chip(state_of(member, now))


def _chip(state: str) -> Chip:
    return Chip(state, _("End date unreadable")) if state == "unknown" else Chip(state)


def validity_drawer() -> Callable[[Member], SafeString]:
    """Return a function that draws the status in a cell. "Valid" is drawn quietly and hidden on phones."""
    now, language = timezone.now(), get_language()
    return lambda member: _validity(state_of(member, now), language)


@cache
def _validity(state: str, language: str | None) -> SafeString:
    """Draw a state. It is cached, because lists draw the same few states in every row."""
    chip = _chip(state)
    return format_html('<span class="none fine">{}</span>', chip.word) if state == "valid" else format_html("{}", chip)


def credential_words(member: Member) -> list[str]:
    """Return the names of the member's credentials."""
    return [_(word) for flag, _icon, word in _CREDENTIALS if getattr(member, flag)]


def credential_drawer() -> Callable[[Member], SafeString]:
    """Return a function that draws the credentials in a cell."""
    language, flags = get_language(), attrgetter(*(flag for flag, *_named in _CREDENTIALS))
    return lambda member: _icons(flags(member), language)


@cache
def _icons(has: tuple[bool, ...], language: str | None) -> SafeString:
    """Draw icons of credentials. They are cached, because lists draw the same few in every row."""
    have = [each for each, given in zip(_CREDENTIALS, has, strict=True) if given]
    drawn = [(icon(name, 16, _(word)), _(word)) for _flag, name, word in have]
    return format_html_join("", '<span title="{1}">{0}</span>', drawn) if drawn else EMPTY_CELL


@dataclass(frozen=True)
class QrStatus:
    """A member's QR code without its data. `kind` is email, one_time or static."""

    kind: str
    word: str
    email: str = ""
    has_data: bool = False
    details: tuple[tuple[str, str], ...] = ()


def qr_of(member: Member) -> QrStatus | None:
    """Return the kind of a member's QR code, or None. Unknown kinds are shown as static."""
    stored = member.qrcode
    if not stored:
        return None
    if not isinstance(stored, dict):
        return QrStatus("static", _("Unknown kind"), has_data=True)
    email, has_data = str(stored.get("email") or ""), bool(stored.get("data"))
    once = stored.get("one_time_qr")
    if isinstance(once, dict) and once.get("enabled"):
        every = _("%(n)s s") % {"n": once.get("timestep", "?")}
        facts = ((_("Code changes every"), every), (_("Neighbouring codes accepted"), str(once.get("skew", "?"))))
        return QrStatus("one_time", _("One-time code"), email, has_data, facts)
    if email:
        return QrStatus("email", _("Issued by the service, sent by e-mail"), email, has_data)
    return QrStatus("static", _("Static code"), email, has_data)

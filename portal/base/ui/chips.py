"""Icons of the Tabler set, and state chips: text and shape, never colour alone.

Locked is quiet; unlocked and held open are loud. The icons listed in `pictures.txt` are on every page or in list rows.
They are in one file that browsers cache, and are drawn by reference to it; the others are inlined. `stack assets`
creates the file.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files
from io import BytesIO
from xml.etree import ElementTree
from zipfile import ZipFile

from django.templatetags.static import static
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext_lazy, pgettext_lazy
from django.utils.translation import gettext as _
from tablericons import IconDoesNotExist

from portal.base.ui.times import clock_tag
from portal.base.ui.value_words import add_brackets

PICTURES = "vendor/icons.svg"
_SVG = "{http://www.w3.org/2000/svg}"
# The style sheet's size for icons without a size; two of three icons have it.
_DEFAULT_SIZE = 16


@cache
def icon(name: str, size: int = 18, label: str = "") -> SafeString:
    """Return the SVG of the outline icon `name` at `size` CSS pixels.

    Without `label` it is hidden from screen readers, because the words beside it are enough. Raises
    `tablericons.IconDoesNotExist` for a name that the set does not have.
    """
    accessibility = {"role": "img", "aria-label": label} if label else {"aria-hidden": "true"}
    if name in _names_in_file():
        drawn = ElementTree.Element("svg")
        ElementTree.SubElement(drawn, "use", {"href": f"{static(PICTURES)}#{name}"})
    else:
        drawn = _outline(name)
        drawn.attrib |= {"stroke-width": "1.75", "focusable": "false"}
    its_own = {name: value for name, value in drawn.attrib.items() if name not in ("width", "height")}
    sides = {"width": str(size), "height": str(size)} if size != _DEFAULT_SIZE else {}
    drawn.attrib = {**its_own, "class": "icon"} | sides | accessibility
    source = ElementTree.tostring(drawn, encoding="unicode", short_empty_elements=True)
    return mark_safe(" ".join(source.split()).replace(" />", "/>"))  # noqa: S308 - our set, attributes escaped here


@cache
def _names_in_file() -> frozenset[str]:
    """Return the names of the icons in the file."""
    return frozenset((files("portal.base.ui") / "pictures.txt").read_text().split())


def _outline(name: str) -> ElementTree.Element:
    try:
        drawn = ElementTree.fromstring(_archive().read(f"outline/{name}.svg"))  # noqa: S314 - the packaged set
    except KeyError:
        raise IconDoesNotExist(f"The icon {name!r} does not exist.") from None
    for node in drawn.iter():
        node.tag = str(node.tag).removeprefix(_SVG)
    return drawn


@cache
def _archive() -> ZipFile:
    """Return the archive of the set, opened once: reading its list of 6,000 names takes long.

    It is read into memory, because forked processes would share a file's position.
    """
    return ZipFile(BytesIO((files("tablericons") / "tablericons.zip").read_bytes()))


#: state -> (word, icon, tone). The tone is a class: quiet, loud, alarm, good, bad, going, doubt, hatched, unknown.
CHIPS: dict[str, tuple[str | Promise, str, str]] = {
    "locked": (gettext_lazy("Locked"), "lock", "quiet"),
    "unlocked": (gettext_lazy("Unlocked"), "lock-open", "loud"),
    "forced_open": (gettext_lazy("Forced open"), "alert-triangle", "alarm"),
    "left_open": (gettext_lazy("Left open"), "door-exit", "alarm"),
    "held_open": (gettext_lazy("Held open"), "door-enter", "alarm"),
    "held": (gettext_lazy("Held unlocked"), "lock-open", "alarm"),
    "open": (pgettext_lazy("door", "Open"), "door-exit", "loud"),
    "passing": (gettext_lazy("Unlocked"), "lock-open", "going"),
    "offline": (gettext_lazy("Offline"), "plug-off", "hatched"),
    "unknown": (gettext_lazy("Unknown"), "question-mark", "unknown"),
    "key_in": (pgettext_lazy("key", "In the box"), "key", "quiet"),
    "key_out": (pgettext_lazy("key", "Out"), "arrow-up-right", "going"),
    "key_overdue": (pgettext_lazy("key", "Overdue"), "clock-x", "alarm"),
    "key_wrong": (gettext_lazy("Wrong key"), "alert-triangle", "loud"),
    "connected": (gettext_lazy("Connected"), "plug-connected", "quiet"),
    "none": (gettext_lazy("Not connected"), "plug", "unknown"),
    "broken": (gettext_lazy("Connection lost"), "plug-off", "alarm"),
    "revoked": (gettext_lazy("Revoked"), "ban", "bad"),
    "valid": (gettext_lazy("Valid"), "circle-check", "quiet"),
    "not_yet": (gettext_lazy("Not started"), "clock", "going"),
    "suspended": (gettext_lazy("Suspended"), "player-pause", "loud"),
    "ended": (gettext_lazy("Expired"), "clock-x", "bad"),
    "running": (gettext_lazy("Running"), "player-play", "going"),
    "waiting": (gettext_lazy("Waiting"), "clock", "quiet"),
    "stopped": (gettext_lazy("Stopped"), "player-stop", "quiet"),
    "recorded": (gettext_lazy("Recorded"), "clock", "going"),
    "sent": (gettext_lazy("Sent"), "arrow-up", "going"),
    "accepted": (gettext_lazy("Accepted"), "arrow-up-right", "going"),
    "done": (gettext_lazy("Done"), "check", "good"),
    "refused": (gettext_lazy("Refused"), "x", "bad"),
    "uncertain": (gettext_lazy("Uncertain"), "question-mark", "doubt"),
    "expired": (pgettext_lazy("request", "Expired"), "clock-x", "quiet"),
    "cancelled": (gettext_lazy("Cancelled"), "ban", "quiet"),
    "missed": (gettext_lazy("Not reached"), "alert-triangle", "alarm"),
    "newer": (gettext_lazy("Overridden"), "arrow-up-right", "loud"),
    "sending": (pgettext_lazy("door", "Being sent"), "arrow-up", "going"),
    "create": (gettext_lazy("New"), "plus", "good"),
    "change": (gettext_lazy("Changed"), "pencil", "going"),
    "delete": (gettext_lazy("Deleted"), "trash", "bad"),
    "same": (gettext_lazy("Unchanged"), "equal", "quiet"),
}


@dataclass(frozen=True, slots=True)
class Chip:
    """A state to show. `state` is a key of CHIPS; other values are shown as "Unknown" with the value.

    `problem` is a problem beside the state; it makes a quiet chip loud.
    """

    state: str
    text: str | Promise = ""
    as_of: datetime | None = None
    problem: str = ""

    @property
    def word(self) -> str:
        """Return the chip's text without markup, for files and titles."""
        return " ".join(
            filter(None, [_word_of(self.state, str(self.text)), self.problem and add_brackets(self.problem)])
        )

    @property
    def tone(self) -> str:
        """Return the CSS class of the chip's tone, also for the element around it."""
        tone = CHIPS.get(self.state, ("", "", "unknown"))[2]
        return "loud" if self.problem and tone in ("quiet", "unknown", "going") else tone

    @property
    def icon(self) -> str:
        return CHIPS.get(self.state, ("", "question-mark", ""))[1]

    def __html__(self) -> SafeString:
        return _draw(self) if self.problem else chip(self.state, text=self.text, as_of=self.as_of)

    __str__ = __html__  # a template reads a value's text before it checks whether the text is safe


def chip(state: str, *, text: str | Promise = "", as_of: datetime | None = None) -> SafeString:
    """Return the chip of `state`, with `text` instead of its usual text, and with "as of" if given."""
    if as_of is None:
        return _cached_chip(state, str(text), get_language())
    return _draw(Chip(state, str(text), as_of))


@lru_cache(maxsize=1024)
def _cached_chip(state: str, text: str, language: str | None) -> SafeString:
    """Return a chip, drawn once per language: lists draw the same few chips on every row."""
    return _draw(Chip(state, text))


def _word_of(state: str, text: str) -> str:
    known = text or CHIPS.get(state, ("",))[0]
    return str(known or (_("Unknown: %(word)s") % {"word": state} if state else _("Unknown")))


def _draw(chip: Chip) -> SafeString:
    moment = format_html(_("as of {time}"), time=clock_tag(chip.as_of))
    more = format_html(' <span class="chip-wrong">{}</span>', chip.problem) if chip.problem else ""
    since = format_html(' <span class="chip-asof">{}</span>', moment) if chip.as_of else ""
    return format_html(
        '<span class="chip chip-{}">{}<span>{}</span>{}{}</span>',
        chip.tone, icon(chip.icon, 16), _word_of(chip.state, str(chip.text)), more, since,
    )  # fmt: skip

"""Template tags and filters of the console."""

from datetime import datetime, timedelta
from typing import Any

from django.template import Context, Library
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime

register = Library()
#: The query parameters that a building's address keeps; others are dropped.
STATE = ("at", "who", "q", "page")


@register.filter
def fill(sentence: str, value: Any) -> str:
    """Return the sentence with its one placeholder filled in, with any name."""
    start, end = sentence.find("{"), sentence.find("}")
    return sentence if start < 0 else f"{sentence[:start]}{value}{sentence[end + 1 :]}"


@register.filter
def named(words: dict[str, Any], key: Any) -> Any:
    """Return the word under a key, or the key itself."""
    return words.get(key, key)


@register.filter
def thousands(number: int) -> str:
    """Return the number as 1,234."""
    return f"{number:,}"


@register.filter
def moment(value: datetime | None) -> str:
    """Return the time as 2026-11-21 09:41:07, in Japan."""
    return f"{localtime(value):%Y-%m-%d %H:%M:%S}" if value else ""


@register.filter
def clock_time(value: datetime | None) -> str:
    """Return the time as 09:41:07, in Japan."""
    return f"{localtime(value):%H:%M:%S}" if value else ""


@register.filter
def day_time(value: datetime | None) -> str:
    """Return the time as 11-21 09:41, in Japan."""
    return f"{localtime(value):%m-%d %H:%M}" if value else ""


@register.simple_tag
def sign(name: str, size: str = "") -> SafeString:
    """Return an icon of console/signs.html; the words beside it explain it."""
    return format_html('<svg class="sign {}" aria-hidden="true"><use href="#sign-{}"/></svg>', size, name)


@register.simple_tag
def described(act: str, name: str, error: str, help_text: str) -> SafeString:
    """Return the attributes that link a field to its error and its help."""
    said = [f"{act}-{name}-error"] if error else []
    said += [f"{act}-{name}-help"] if help_text else []
    shown = format_html('aria-describedby="{}"', " ".join(said)) if said else SafeString()
    return format_html('{} aria-invalid="true"', shown) if error else shown


@register.simple_tag
def offset(seconds: float, words: dict[str, Any]) -> str:
    """Return a clock's offset, in its two largest units: +1 d 2 h."""
    left, found = timedelta(seconds=round(abs(seconds))).total_seconds(), []
    for name, size in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, left = divmod(left, size)
        if count:
            found.append(f"{count:,.0f} {words[name]}")
    return ("-" if seconds < 0 else "+") + " ".join(found[:2] or [f"0 {words['second']}"])


@register.simple_tag(takes_context=True)
def here(context: Context, **changed: Any) -> str:
    """Return this page's address with some parameters changed; an empty value removes one."""
    query = context["request"].GET.copy()
    for name in list(query):
        if name not in STATE:
            del query[name]
    for name, value in changed.items():
        if value in ("", None):
            query.pop(name, None)
        else:
            query[name] = str(value)
    return f"?{query.urlencode()}" if query else context["request"].path


@register.filter
def day(value: datetime | None) -> str:
    """Return the day as 2026-11-21, in Japan."""
    return f"{localtime(value):%Y-%m-%d}" if value else ""


@register.filter
def joined(value: Any) -> str:
    """Return lines as they were typed."""
    return "\n".join(value) if isinstance(value, list) else str(value)


@register.filter
def at(form: Any, name: str) -> Any:
    """Return a field of a form."""
    return form[name]


@register.simple_tag
def keys_out(box: dict[str, Any], words: dict[str, Any]) -> str:
    """Return the number of a box's keys that are out, as a sentence."""
    return str(words["keys_out"]).format(out=box["out"], all=len(box["units"]))


@register.simple_tag
def taken(use: Any, words: dict[str, Any]) -> str:
    """Return a sentence: the holder of a key, and since when."""
    who = (use.holder or {}).get("name") or words["nobody_known"]
    return str(words["taken_by"]).format(who=who, since=day_time(use.taken_at))


@register.simple_tag
def page_of(shown: Any, words: dict[str, Any]) -> str:
    """Return a sentence: the page's number out of how many."""
    return str(words["page_of"]).format(page=shown.number, pages=shown.paginator.num_pages)


@register.simple_tag
def confirm_help(words: dict[str, Any]) -> str:
    """Return the sentence with the word to type before everything is deleted."""
    return str(words["confirm_help"]).format(word=words["confirm_word"])


@register.simple_tag
def typed_moment(value: datetime) -> str:
    """Return the time as 2026-11-21T09:41:07, in Japan, for a browser's date and time field."""
    return f"{localtime(value):%Y-%m-%dT%H:%M:%S}"

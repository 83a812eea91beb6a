"""Icons inlined from Tabler's set, drawn once per process: an icon costs a page no request and no parsing."""

from functools import cache

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from tablericons import _render_icon


@cache
def icon(name: str, size: int = 18, label: str = "") -> SafeString:
    """The SVG of the outline icon `name` at `size` CSS pixels.

    Without `label` it is hidden from screen readers: the words beside it say the same. Raises
    `tablericons.IconDoesNotExist` for a name that the set does not have.
    """
    attributes = {"class": "icon", "stroke_width": "1.75", "focusable": "false"}
    if label:
        attributes |= {"role": "img", "aria-label": label}
    else:
        attributes |= {"aria-hidden": "true"}
    source = _render_icon(f"outline/{escape(name)}", size, **attributes)
    return mark_safe(" ".join(source.split()))  # noqa: S308 - drawn from the packaged set, attributes escaped by it

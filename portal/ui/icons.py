"""Icons of Tabler's set, drawn once per process.

Those that stand on every page are in one file of pictures, which a browser keeps, and drawn by reference to it; the
others are inlined. Which they are says `pictures.txt`; `stack assets` makes the file.
"""

import re
from collections import Counter
from functools import cache, lru_cache
from importlib.resources import files
from io import BytesIO
from xml.etree import ElementTree
from zipfile import ZipFile

from django.templatetags.static import static
from django.utils.safestring import SafeString, mark_safe
from tablericons import IconDoesNotExist

PICTURES = "vendor/tabler/icons.svg"
_SVG = "{http://www.w3.org/2000/svg}"


@cache
def icon(name: str, size: int = 18, label: str = "") -> SafeString:
    """The SVG of the outline icon `name` at `size` CSS pixels.

    Without `label` it is hidden from screen readers: the words beside it say the same. Raises
    `tablericons.IconDoesNotExist` for a name that the set does not have.
    """
    told = {"role": "img", "aria-label": label} if label else {"aria-hidden": "true"}
    if name in _pictured():
        drawn = ElementTree.Element("svg")
        ElementTree.SubElement(drawn, "use", {"href": f"{static(PICTURES)}#{name}"})
    else:
        drawn = _outline(name)
        drawn.attrib |= {"stroke-width": "1.75", "focusable": "false"}
    drawn.attrib |= {"class": "icon", "width": str(size), "height": str(size)} | told
    source = ElementTree.tostring(drawn, encoding="unicode", short_empty_elements=True)
    return mark_safe(" ".join(source.split()).replace(" />", "/>"))  # noqa: S308 - our set, attributes escaped here


@cache
def _pictured() -> frozenset[str]:
    """The icons that the file of pictures has."""
    return frozenset((files("portal.ui") / "pictures.txt").read_text().split())


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
    """The set, opened once: reading its list of 6,000 names for every icon took a new process seconds.

    In memory, because processes that are forked would share a file's place.
    """
    return ZipFile(BytesIO((files("tablericons") / "tablericons.zip").read_bytes()))


_DRAWN = re.compile(r'<svg ([^>]*\bclass="icon"[^>]*)>((?!<use).*?)</svg>')
_OF_THE_PLACE = re.compile(r'(?<![-\w])((?:width|height|class|role|aria-label|aria-hidden)="[^"]*")')
_OF_THE_PICTURE = 'viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round"'


def drawn_once(html: str, prefix: str) -> tuple[str, SafeString]:
    """`html` with each icon that it repeats drawn by reference, and the pictures referred to, for the same swap."""
    pictures = []
    for (attributes, picture), times in Counter(_DRAWN.findall(html)).items():
        if times > 1:
            name = f"{prefix}-icon-{len(pictures)}"
            pictures.append(f'<symbol id="{name}" {_OF_THE_PICTURE}>{picture}</symbol>')
            reference = f'<svg {_place(attributes)}><use href="#{name}"/></svg>'
            html = html.replace(f"<svg {attributes}>{picture}</svg>", reference)
    held = (
        f'<svg class="pictures" width="0" height="0" aria-hidden="true">{"".join(pictures)}</svg>' if pictures else ""
    )
    return html, mark_safe(held)  # noqa: S308 - parts of icons that were drawn here


@lru_cache(maxsize=500)
def _place(attributes: str) -> str:
    """What of an icon's attributes belongs to where it stands; the others are its picture's."""
    return " ".join(_OF_THE_PLACE.findall(attributes))

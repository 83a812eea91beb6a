"""Icons of Tabler's set, drawn once per process.

Those that stand on every page or in the rows of lists are in one file of pictures, which a browser keeps, and drawn by
reference to it; the others are inlined. Which they are says `pictures.txt`; `stack assets` makes the file.
"""

from functools import cache
from importlib.resources import files
from io import BytesIO
from xml.etree import ElementTree
from zipfile import ZipFile

from django.templatetags.static import static
from django.utils.safestring import SafeString, mark_safe
from tablericons import IconDoesNotExist

PICTURES = "vendor/icons.svg"
_SVG = "{http://www.w3.org/2000/svg}"
# The size that the style sheet gives to icons that do not say theirs: two of three.
_DEFAULT_SIZE = 16


@cache
def icon(name: str, size: int = 18, label: str = "") -> SafeString:
    """The SVG of the outline icon `name` at `size` CSS pixels.

    Without `label` it is hidden from screen readers: the words beside it say the same. Raises
    `tablericons.IconDoesNotExist` for a name that the set does not have.
    """
    told = {"role": "img", "aria-label": label} if label else {"aria-hidden": "true"}
    if name in _names_in_file():
        drawn = ElementTree.Element("svg")
        ElementTree.SubElement(drawn, "use", {"href": f"{static(PICTURES)}#{name}"})
    else:
        drawn = _outline(name)
        drawn.attrib |= {"stroke-width": "1.75", "focusable": "false"}
    its_own = {name: value for name, value in drawn.attrib.items() if name not in ("width", "height")}
    sides = {"width": str(size), "height": str(size)} if size != _DEFAULT_SIZE else {}
    drawn.attrib = {**its_own, "class": "icon"} | sides | told
    source = ElementTree.tostring(drawn, encoding="unicode", short_empty_elements=True)
    return mark_safe(" ".join(source.split()).replace(" />", "/>"))  # noqa: S308 - our set, attributes escaped here


@cache
def _names_in_file() -> frozenset[str]:
    """The icons that the file of pictures has."""
    return frozenset((files("portal.core.ui") / "pictures.txt").read_text().split())


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

"""Icons of the Tabler set, drawn once per process.

The icons listed in `pictures.txt` are on every page or in list rows. They are in one file that browsers cache, and are
drawn by reference to it; the others are inlined. `stack assets` creates the file.
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
# The style sheet's size for icons without a size; two of three icons have it.
_DEFAULT_SIZE = 16


@cache
def icon(name: str, size: int = 18, label: str = "") -> SafeString:
    """Return the SVG of the outline icon `name` at `size` CSS pixels.

    Without `label` it is hidden from screen readers, because the words beside it are enough. Raises
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

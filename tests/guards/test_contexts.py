"""One short message, one meaning: a word that is used for several kinds of things has a context, or a reason here.

Each message of up to three words without context is checked for its kind (a label of a field, column or fact, a state,
or a button) and its area of work. If it has two kinds, or is used in two areas, it needs a context, a row in the
glossary, or a line in `REASONS`.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from stack.paths import ROOT
from tests.support.sources import sources

Use = tuple[str, str]  # area of work, kind
SORTS = {
    **dict.fromkeys(("Chip", "CHIPS", "STATES", "LABELS", "TextChoices"), "state"),
    **dict.fromkeys(("BulkAction", "submit"), "button"),
    **dict.fromkeys(("Column", "Filter", "SheetColumn", "Text", "Moment", "label"), "label"),
    **dict.fromkeys(
        ("text", "moment_field", "_text", "CharField", "ChoiceField", "DateField", "BooleanField"), "label"
    ),
}
TAGS = {**dict.fromkeys(("th", "dt", "label", "legend"), "label"), **dict.fromkeys(("button", "summary"), "button")}

#: Words that mean the same in all their places, by the reason.
REASONS: dict[str, str] = {
    "what every form and dialogue offers": "Cancel; Confirm; Copy; Discard; Download; Edit; Print; Try again; Undo; "
    "Upload another; Change; Delete…; show; Show; As a table; Sign in; Sign out; Preview changes; Check access; "
    "Refresh",
    "the person's choice of how the portal looks": "Same as device; Dark; Light",
    "columns and facts of every list and record": "After; Before; By; Date and time; File; Operation; Place; "
    "Reason; Result; State; Target; What; When; Who; Last used",
    "fields of a person, wherever they are asked for, shown or imported": "Account type; Card; Company; "
    "E-mail address; End date unreadable; End of use; Face; No end date; Remarks; Return keys by",
    "states of requests, rows and jobs, one row of chips for all": "Applied; Changed; Deleted; Done; Needs correction; "
    "New; Not applied; Not sent; Not started; Refused; Running; Sent; Stopped; Stopped by staff; Unchanged; Waiting; "
    "Will change",
    "states of a code, a connection, a tenant and a device alike": "Active; Connected; Connection lost; Not connected; "
    "Revoked",
    "steps and states at the desk, pressed, counted and listed": "Check in; Check in again; Check out; Deactivated; "
    "Expected",
}


def area_of(path: Path) -> str:
    """Return the area of work of a source file."""
    parts = path.relative_to(ROOT).parts
    depth = {("portal", "base"): 2, ("portal", "domain"): 2, ("templates", "guests"): 2 if len(parts) > 3 else 1}.get(
        parts[:2], 1
    )
    return parts[depth] if len(parts) > depth + 1 else parts[0]


def name_of(node: ast.AST) -> str:
    """Return the name of the call, assignment or class that surrounds a text."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) | ast.keyword(arg=str(name)):
            return name
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case ast.ClassDef(bases=[ast.Name(id=name) | ast.Attribute(attr=name), *_]):
            return name
    return ""


def in_python(node: ast.AST, sort: str = "") -> Iterator[tuple[str, str]]:
    match node:
        case ast.Call(func=ast.Name(id="_" | "_t" | "gettext" | "gettext_lazy"), args=[ast.Constant(value=str(text))]):
            yield text, sort
    sort = SORTS.get(name_of(node), sort)
    submits = (
        {id(value) for key, value in zip(node.keys, node.values, strict=True) if getattr(key, "value", "") == "submit"}
        if isinstance(node, ast.Dict)
        else set()
    )
    for child in ast.iter_child_nodes(node):
        yield from in_python(child, "button" if id(child) in submits else sort)


def in_template(text: str) -> Iterator[tuple[str, str]]:
    for found in re.finditer(r"""\{% translate (["'])([^"'%]+)\1 %\}""", text):
        before = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", "", text[: found.start()], flags=re.S)
        name, attributes, closed = (re.findall(r"<(/?[a-z0-9]+)([^<>]*)(>?)", before) or [("", "", "")])[-1]
        is_button = name == "a" and "btn" in attributes
        yield found[2], ("button" if is_button else TAGS.get(name, "")) if closed else ""
    for found in re.finditer(r"""\{% fact(?:_row)? _\((["'])([^"'%]+)\1\)""", text):
        yield found[2], "label"


def uses() -> dict[str, set[Use]]:
    """Return each short message without context, with the areas and kinds in which it is used."""
    found: dict[str, set[Use]] = defaultdict(set)
    for module in sources("accessapi", "tenants", "portal"):
        for text, sort in in_python(module.tree):
            found[text].add((area_of(module.path), sort))
    for template in sources("templates", suffix=".html"):
        for text, sort in in_template(template.text):
            found[text].add((area_of(template.path), sort))
    return {text: where for text, where in found.items() if len(text.split()) <= 3 and text.strip(",; ")}


def is_twofold(where: set[Use]) -> bool:
    sorts, areas = {sort for _area, sort in where if sort}, {area for area, sort in where if sort}
    return len(sorts) > 1 or len(areas) > 1


def test_a_short_message_of_several_uses_has_a_context_or_a_reason():
    terms = re.findall(r"^\| (.+?) \|", (ROOT / "docs/glossary.md").read_text(), re.M)
    known = {term.lower().removesuffix("s") for term in terms}
    allowed = {text for texts in REASONS.values() for text in texts.split("; ")}
    twofold = {text for text, where in uses().items() if is_twofold(where)}
    bare = {text for text in twofold if text.lower().removesuffix("s") not in known}
    assert sorted(bare - allowed) == [], "give each meaning a context of its own"
    assert sorted(allowed - bare) == [], "stale: these have one use now"

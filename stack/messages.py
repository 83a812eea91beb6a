"""The translation catalogues, without GNU gettext: collected, updated and compiled in Python."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation.template import templatize

from stack.paths import ROOT

LOCALE = ROOT / "locale"
LANGUAGES = ("ja",)
_SOURCES = ("accessapi", "tenants", "portal")
_KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    "_": None,
    "_t": None,  # gettext beside gettext_lazy in one module
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}


def collect() -> Catalog:
    """Return every translatable string of the Python sources and the templates, with its files."""
    found = Catalog(project="access-portal", charset="utf-8", fuzzy=False)
    for path, source in _sources():
        for _line, text, comments, context in extract("python", io.BytesIO(source), _KEYWORDS, ["Translators:"]):
            found.add(text, locations=[(str(path.relative_to(ROOT)), 0)], auto_comments=comments, context=context)
    return found


def _sources() -> Iterator[tuple[Path, bytes]]:
    for folder in _SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, path.read_bytes()
    templates = {path for name in ("templates", *_SOURCES) for path in (ROOT / name).rglob("templates/**/*.html")}
    for path in sorted(
        templates | set((ROOT / "templates").rglob("*.html")) | set((ROOT / "templates").rglob("*.txt"))
    ):
        yield path, _templatized(path)


def _templatized(path: Path) -> bytes:
    if not settings.configured:
        settings.configure()
    source: str = templatize(path.read_text(), origin=str(path))
    # Django's `templatize` blanks out everything around the strings but keeps its indentation, which is not valid
    # Python.
    return re.sub(r"(?m)^[ \t]+", "", source).encode()


def update() -> int:
    """Update each catalogue, keeping its translations. Return the number of strings without one."""
    found, lacking = collect(), 0
    for language in LANGUAGES:
        path, known = _catalogue(language)
        created = known.creation_date
        known.update(found, no_fuzzy_matching=True)
        known.obsolete.clear()
        known.creation_date = created
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            write_po(file, known, width=100, sort_output=True, include_lineno=False, include_previous=False)
        missing = list(_untranslated(known))
        print(f"{path.relative_to(ROOT)}: {len(known)} strings, {len(missing)} without a translation")
        lacking += len(missing)
    return lacking


def check() -> list[str]:
    """Return the problems of the catalogues: missing strings, and strings without a translation."""
    found, wrong = collect(), []
    for language in LANGUAGES:
        path, known = _catalogue(language)
        where = path.relative_to(ROOT)
        for message in found:
            if message.id and known.get(message.id, message.context) is None:
                wrong.append(f"{where}: missing: {_short_id(message)}")
        wrong += [f"{where}: not translated: {_short_id(message)}" for message in _untranslated(known)]
        wrong += [f"{where}: {_short_id(message)}: {error}" for message, errors in known.check() for error in errors]
    return wrong


def compile_catalogues() -> None:
    """Write the .mo file of every catalogue that is newer than it."""
    for source in LOCALE.glob("*/LC_MESSAGES/*.po"):
        target = source.with_suffix(".mo")
        if target.exists() and target.stat().st_mtime >= source.stat().st_mtime:
            continue
        with source.open("rb") as file:
            catalogue = read_po(file, locale=source.parent.parent.name)
        beside = target.with_suffix(".mo.new")
        with beside.open("wb") as file:
            write_mo(file, catalogue)
        beside.replace(target)


def _catalogue(language: str) -> tuple[Path, Catalog]:
    path = LOCALE / language / "LC_MESSAGES" / "django.po"
    if not path.exists():
        return path, Catalog(locale=language, project="access-portal", charset="utf-8", fuzzy=False)
    with path.open("rb") as file:
        return path, read_po(file, locale=language)


def _untranslated(catalogue: Catalog) -> Iterator[Message]:
    for message in catalogue:
        strings = message.string if isinstance(message.string, list | tuple) else (message.string,)
        if message.id and (message.fuzzy or not all(strings)):
            yield message


def _short_id(message: Message) -> str:
    text = message.id if isinstance(message.id, str) else message.id[0]
    return repr(text if len(text) < 80 else text[:77] + "...")

"""The user's guide matches the site: its pages, pictures and links, and every button that it names."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from babel.messages.pofile import read_po
from django.utils import translation
from markdown_it import MarkdownIt
from markdown_it.token import Token

from portal.guide.views import FOLDER, FRONT_PAGE, contents, tasks
from stack.paths import ROOT
from tenants.roles import ROLES, find_role
from tests.support.crawl import addresses

LANGUAGES = ("en", "ja")
ALL = (FRONT_PAGE, *tasks())
# Placeholders of a message, in Python, in templates and in the browser.
_PUT_IN = re.compile(r"%%?\(\w+\)0?\d*[sd]|%%\w|\{\w+\}")
Message = tuple[list[re.Pattern[str]], list[re.Pattern[str]]]


def tokens(language: str, name: str) -> Iterator[Token]:
    for block in MarkdownIt("commonmark").parse((FOLDER / language / f"{name}.md").read_text(encoding="utf-8")):
        yield block
        yield from block.children or ()


def quoted(language: str, name: str) -> list[str]:
    """Return what a page of the guide quotes: names in bold, and the site's texts in italics."""
    found: list[str] = []
    is_open = False
    for token in tokens(language, name):
        if token.type in ("strong_open", "em_open"):
            is_open = True
            found.append("")
        elif token.type in ("strong_close", "em_close"):
            is_open = False
        elif is_open:
            found[-1] += token.content
    return found


def links(language: str, name: str) -> list[str]:
    return [str(each.attrs["href"]) for each in tokens(language, name) if each.type == "link_open"]


def headings_with_links(language: str, name: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the second-level headings of a page, each with the texts and targets of the links under it."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    ordered = list(tokens(language, name))
    for token, following in pairwise(ordered):
        if token.type == "heading_open" and token.tag == "h2":
            found.append((following.content, []))
        elif token.type == "link_open":
            found[-1][1].append((following.content, str(token.attrs["href"])))
    return found


def pattern(text: str) -> re.Pattern[str]:
    """Return a pattern for the texts of a message.

    A message of placeholders alone matches no text, instead of every text.
    """
    parts = [re.escape(part) for part in _PUT_IN.split(text)]
    return re.compile(".+?".join(parts) if len(parts) == 1 or re.search(r"\w{2}", " ".join(parts)) else r"(?!)", re.S)


def patterns(texts: Any) -> list[re.Pattern[str]]:
    return [pattern(text) for text in ([texts] if isinstance(texts, str) else texts)]


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    with (ROOT / "locale/ja/LC_MESSAGES/django.po").open("rb") as file:
        return [(patterns(each.id), patterns(each.string)) for each in read_po(file, locale="ja") if each.id]


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_page_is_there_in_each_language_and_no_other(language: str) -> None:
    assert {path.stem for path in (FOLDER / language).iterdir()} == set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_what_a_page_quotes_is_on_the_site_and_the_same_in_both_languages(name: str, messages: list[Message]) -> None:
    """Check that a renamed button is renamed in the guide too."""
    english, japanese = quoted("en", name), quoted("ja", name)
    twins = {
        text: [own for others, own in messages if any(each.fullmatch(text) for each in others)] for text in english
    }
    assert [text for text, known in twins.items() if not known] == [], "no message of the site says this"
    meant = {
        text: {twin for twin in japanese for known in twins[text] if any(each.fullmatch(twin) for each in known)}
        for text in english
    }
    assert [text for text, found in meant.items() if not found] == [], f"not in ja/{name}.md as the site says it"
    assert set(japanese) - set().union(*meant.values()) == set(), f"not in en/{name}.md"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", tasks())
def test_a_page_is_one_task_in_a_few_steps_with_its_picture(language: str, name: str) -> None:
    found = list(tokens(language, name))
    assert [found[0].type, found[0].tag] == ["heading_open", "h1"]
    ordered = [each.type for each in found]
    steps = ordered[ordered.index("ordered_list_open") : ordered.index("ordered_list_close")].count("list_item_open")
    assert 3 <= steps <= 6
    pictures = [str(each.attrs["src"]) for each in found if each.type == "image"]
    assert pictures == [f"../pictures/{language}/{name}.webp"]
    assert "h2" in {each.tag for each in found}, "what can go wrong"


def test_every_picture_exists_and_all_of_them_are_small() -> None:
    taken = sorted(path.relative_to(FOLDER / "pictures").as_posix() for path in FOLDER.glob("pictures/*/*.*"))
    assert taken == sorted(f"{language}/{name}.webp" for language in LANGUAGES for name in tasks())
    assert sum(path.stat().st_size for path in FOLDER.glob("pictures/*/*.*")) < 2_500_000


def test_no_picture_is_older_than_the_labels_on_it() -> None:
    """Check the messages that were on a page when its picture was taken. Retake a picture by `make docs`."""
    shown = json.loads((FOLDER / "pictures/labels.json").read_text(encoding="utf-8"))
    pictures = [*FOLDER.glob("pictures/*/*.*"), *(ROOT / "docs/images").glob("*.*")]
    assert sorted(shown) == sorted(path.relative_to(ROOT).as_posix() for path in pictures)
    with (ROOT / "locale/ja/LC_MESSAGES/django.po").open("rb") as file:
        both = [(str(each.id), str(each.string)) for each in read_po(file, locale="ja")]
    known = {"en": {english for english, _ in both}, "ja": {japanese for _, japanese in both}}
    old = {
        name: labels
        for name, each in shown.items()
        if (labels := sorted(set(each["labels"]) - known[each["language"]]))
    }
    assert old == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_links_lead_to_pages(language: str) -> None:
    for name in ALL:
        assert {link.removesuffix(".md") for link in links(language, name)} <= set(tasks()), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_front_page_has_a_heading_for_each_role_with_its_tasks_and_no_other(language: str) -> None:
    with translation.override(language):
        expected = [
            (str(title), [(page.title, f"{page.name}.md") for page in pages]) for title, pages in contents(language)
        ]
    assert headings_with_links(language, FRONT_PAGE) == expected


def test_every_role_has_a_task() -> None:
    known = {role.name for role in ROLES}
    assert {name for task in tasks().values() for name in task.roles} == known
    assert all(find_role(task.roles[0]) for task in tasks().values())


def test_every_view_that_has_a_page_exists_and_has_one_page() -> None:
    named = [view for task in tasks().values() for view in task.views]
    assert set(named) - {each.name for each in addresses()} == set()
    assert len(named) == len(set(named))

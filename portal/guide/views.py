"""The user guide on the site: its pages from `docs/guide`, and the link to help of each page.

`docs/guide` has a page for each task and language, and `guide.toml` lists roles and views. The files are read on the
site and in the repository. Their relative links and pictures are replaced by addresses of the site. Each page is
rendered once in a process.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.views.decorators.http import require_GET
from markdown_it import MarkdownIt
from markdown_it.token import Token
from PIL import Image

from tenants.roles import ROLES, find_role

FOLDER: Path = settings.BASE_DIR / "docs" / "guide"
FRONT_PAGE = "README"
# Raw HTML in a page is shown as text.
_MARKDOWN = MarkdownIt("commonmark", {"html": False})


@dataclass(frozen=True, slots=True)
class Task:
    """A page of the guide: its roles, the main one first, and the views whose help links to it."""

    name: str
    roles: tuple[str, ...]
    views: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Article:
    """A rendered page: its `address` on the site, the first heading, and what follows it as HTML."""

    name: str
    address: str
    title: str
    body: SafeString


@cache
def tasks() -> dict[str, Task]:
    """Return the tasks by name, in the order of the guide."""
    rows = tomllib.loads((FOLDER / "guide.toml").read_text(encoding="utf-8"))["page"]
    return {row["name"]: Task(row["name"], tuple(row["roles"]), tuple(row["views"])) for row in rows}


@cache
def article(name: str, language: str) -> Article:
    """Return the page of the task `name`, or the front page. Raises FileNotFoundError if it does not exist."""
    path = FOLDER / language / f"{name}.md"
    tokens = _MARKDOWN.parse(path.read_text(encoding="utf-8"))
    for token in tokens:
        token.children = [each for part in token.children or () for each in _with_site_addresses(part, path.parent)]
    # A page begins with its heading: three tokens, of which the second has the text. The front page's lists of tasks
    # are left out, because the template shows those of `contents`, folded.
    end = next((n for n, each in enumerate(tokens) if each.tag == "h2"), None) if name == FRONT_PAGE else None
    body = _MARKDOWN.renderer.render(tokens[3:end], _MARKDOWN.options, {})
    return Article(name, address(name), tokens[1].content, mark_safe(body))  # noqa: S308 - our own files, escaped


def _with_site_addresses(part: Token, folder: Path) -> list[Token]:
    """Return the tokens with addresses of the site.

    A picture gets its size and a link to its file, because phones show it small.
    """
    if part.type == "link_open" and str(part.attrs["href"]).endswith(".md"):
        part.attrs["href"] = address(str(part.attrs["href"]).removesuffix(".md"))
    if part.type != "image":
        return [part]
    picture = (folder / str(part.attrs["src"])).resolve()
    part.attrs["src"] = static(f"guide/{picture.relative_to(FOLDER / 'pictures').as_posix()}")
    with Image.open(picture) as opened:
        part.attrs["width"], part.attrs["height"] = opened.size
    return [Token("link_open", "a", 1, attrs={"href": part.attrs["src"]}), part, Token("link_close", "a", -1)]


def tasks_by_role() -> dict[str, list[Task]]:
    """Return each role's tasks, in the order of the guide. A task that several roles may do is under each."""
    return {role.name: [each for each in tasks().values() if role.name in each.roles] for role in ROLES}


def contents(language: str, first: str = "") -> Sequence[tuple[Promise, list[Article]]]:
    """Return each role's title with its pages: the role `first`, then the others in their order."""
    parts = sorted(tasks_by_role().items(), key=lambda part: part[0] != first)
    return [(find_role(role).title, [article(each.name, language) for each in found]) for role, found in parts]


def address(name: str) -> str:
    """Return the address of a page on the site."""
    return reverse("guide:index") if name == FRONT_PAGE else reverse("guide:page", args=[name])


def page_for_view(view: str) -> str:
    """Return the name of the page about this view, otherwise about its app, otherwise the front page."""
    about = _pages_of_views()
    return about.get(view) or about.get(f"{view.partition(':')[0]}:index") or FRONT_PAGE


@cache
def _pages_of_views() -> Mapping[str, str]:
    return {view: task.name for task in tasks().values() for view in task.views}


def help_link(request: HttpRequest) -> Mapping[str, Any]:
    """Return the address that the help link of this page leads to."""
    match = request.resolver_match
    return {"address": address(page_for_view(match.view_name if match else ""))}


@require_GET
def page(request: HttpRequest, name: str = FRONT_PAGE) -> HttpResponse:
    """Show a page of the guide in the person's language, beside the tasks of each role."""
    task = tasks().get(name)
    if task is None and name != FRONT_PAGE:
        raise Http404
    language = (get_language() or "en")[:2]
    roles = [find_role(each).title for each in task.roles] if task else []
    parts = contents(language, task.roles[0] if task else "")
    context = {"article": article(name, language), "name": name, "roles": roles, "parts": parts}
    return render(request, "guide/page.html", context)

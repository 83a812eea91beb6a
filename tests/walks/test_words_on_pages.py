"""Pages show words of the reader's language: no value that only a program knows, and in Japanese no English.

Walks the pages of a furnished tenant, which takes many seconds.
"""

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from django.db import models
from django.test import Client

from portal.domain.intents.models import Intent, State
from tenants.models import AuditEntry, User
from tenants.scope import tenant_scope
from tests.support.filled_tenants import furnish, pages_of, read
from tests.support.isolation import tenant_models
from tests.support.places import Place

#: Texts in these are verbatim, typed by a person, or for programs.
VERBATIM = {"code", "pre", "textarea", "script", "style", "template", "kbd"}
READ_ALOUD = {"aria-label", "title", "alt", "placeholder"}
ADDRESS = re.compile(r"\S+@\S+|https?://\S+|\d+/\d+|\b[\w-]+\.(?:csv|xlsx|pdf|zip|json|txt)\b")
#: A code of the portal or the service: `cont_unlock`, `incident:1`, `camera:c003d9fb36`, an identifier.
CODE = re.compile(
    r"\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z]{3,}:[0-9a-z]|\b[0-9a-f]{8}-[0-9a-f]{4}-|\b(?=\w*\d)(?=\w*[a-f])[a-z][0-9a-f]{8,}\b"
)
#: Terms that Japanese readers know in this form: formats, keys of the keyboard, and names of techniques.
TERMS = (
    "API|CSV|XLSX|Excel|PDF|PNG|JPEG|ZIP|URL|OAuth|Web(?:hook)?|UTF-8|Shift-JIS|VAULT_KEYS|HTTPS?|PIN"
    "|Ctrl|Shift|Delete|Enter|English"
)
ENGLISH = re.compile(rf"\b(?!(?:{TERMS})(?![A-Za-z]))[A-Za-z]{{3,}}", re.ASCII)


class Texts(HTMLParser):
    """The texts of a page that a person reads or hears, without what is verbatim."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._verbatim: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag in VERBATIM or (tag == "td" and "k-mono" in str(named.get("class")).split()):
            self._verbatim.append(tag)
        self.found += [value for name, value in attrs if name in READ_ALOUD and value]

    def handle_endtag(self, tag: str) -> None:
        if self._verbatim and tag == self._verbatim[-1]:
            self._verbatim.pop()

    def handle_data(self, data: str) -> None:
        if not self._verbatim and data.strip():
            self.found.append(" ".join(data.split()))


def texts_on(page: str) -> list[str]:
    parser = Texts()
    parser.feed(page)
    return parser.found


def names_in(value: Any, key: str = "") -> Iterator[str]:
    """Yield the names in a row's value: texts under keys such as `area_name` and `title`."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from names_in(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from names_in(item, key)
    elif isinstance(value, str) and value and re.search(r"name|title|subject|slug|by_label", key):
        yield value


def names_of(place: Place) -> re.Pattern[str]:
    """Return a pattern of all names in the tenant, which are as people and the service wrote them."""
    found = {place.tenant.name, place.tenant.slug}
    with tenant_scope(place.tenant):
        for model in tenant_models():
            for row in model._default_manager.all():
                for field in row._meta.concrete_fields:
                    if isinstance(field, models.CharField | models.TextField | models.JSONField):
                        found.update(names_in(getattr(row, field.attname), field.attname))
    return re.compile("|".join(re.escape(each) for each in sorted(found, key=len, reverse=True) if len(each) > 2))


@pytest.fixture
def visited(make: Callable[..., Place]) -> tuple[Place, list[str]]:
    """Return a furnished tenant with all kinds of its pages. No one is called like a role."""
    place = furnish(make)
    client, home = place.client(), f"/t/{place.tenant.slug}/"
    User.objects.filter(name__in=("owner", "facility manager", "reviewer")).update(name="試験 太郎")
    paths = list(pages_of(client, home))
    with tenant_scope(place.tenant):
        Intent.objects.update(state=State.UNCERTAIN, due_at=None)
        paths += [f"{home}audit/{pk}/" for pk in AuditEntry.objects.values_list("pk", flat=True)]
        paths += [f"{home}intents/{pk}/" for pk in Intent.objects.values_list("pk", flat=True)]
    return place, paths


def shown(client: Client, path: str, language: str) -> list[str]:
    """Return the texts of a page in this language; none for a file."""
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = language
    status, page = read(client, path)
    return texts_on(page) if status == 200 and page.lstrip().startswith("<") else []


def test_no_page_shows_a_code_or_english_among_japanese(visited: tuple[Place, list[str]]) -> None:
    place, paths = visited
    client, names = place.client(), names_of(place)
    wrong = []
    for language, pattern in (("en", CODE), ("ja", CODE), ("ja", ENGLISH)):
        for path in paths:
            texts = [names.sub("…", ADDRESS.sub("…", each)) for each in shown(client, path, language)]
            wrong += [f"{language} {path}: {each}" for each in texts if pattern.search(each)]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "is_found"),
    [("camera:c003d9fb36", True), ("Remote cont_unlock succeeded", True), ("incident:1", True), ("at 12:30", False)],
)
def test_a_code_is_found(text: str, is_found: bool) -> None:
    assert bool(CODE.search(text)) is is_found


def test_english_is_found_but_not_in_terms_code_or_scripts() -> None:
    assert ENGLISH.search("拒否：no access")
    assert not ENGLISH.search("Webhookの通知、API残り回数、CSVとXLSX")
    assert texts_on("<p title='a'>b<code>card</code><script>c</script></p>") == ["a", "b"]

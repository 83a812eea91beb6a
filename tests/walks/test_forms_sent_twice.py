"""Every form acts once, even if it is sent twice; opening an address changes nothing.

Walks the pages of a furnished tenant, which takes many seconds.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.test import Client
from django.urls import resolve

from tests.support.filled_tenants import furnish, pages_of, read
from tests.support.forms import PageForm, forms_of
from tests.support.places import Place

pytestmark = [pytest.mark.django_db, pytest.mark.share]
#: Written by every request: sessions, limits, used codes, and what is loaded from the service.
BESIDE = (
    "django_session", "tenants_cacheentry", "people_", "places_", "sync_", "history_history", "budget_", "timers_",
    "usersessions_",
)  # fmt: skip
#: Recorded each time, because a file or a secret is handed out again.
EACH_TIME = {"members:export", "members:reveal"}
#: Recorded for a look: who saw a picture or downloaded a file.
LOOKS = {"guests:building_file"}
TYPED = {
    "email": "new@example.test", "text": "A note", "title": "A title", "name": "A name", "membergroup_name": "Night",
    "member_name": "田中", "reason": "Fire drill",
}  # fmt: skip


def written() -> Counter[str]:
    """Count the rows that were added to and removed from each table, in this transaction."""
    tables = [each._meta.db_table for each in apps.get_models(include_auto_created=True)]
    found: Counter[str] = Counter()
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname, n_tup_ins + n_tup_del FROM pg_stat_xact_user_tables")
        for table, count in cursor.fetchall():
            if table in tables and not table.startswith(BESIDE):
                found[table] = count
    return found


def filled(form: PageForm) -> dict[str, list[str]]:
    """Return what a person would send: empty text fields are filled in."""
    data = form.data()
    for name in form.typed:
        if data[name] == [""] and name in TYPED:
            data[name] = [TYPED[name]]
    for name, value in form.buttons[:1]:
        data[name] = [value]
    return data


def send(client: Client, page: str, form: PageForm) -> None:
    answer: Any = client.post(form.address, filled(form), headers={"referer": f"http://testserver{page}"})
    if answer.streaming:
        deque(answer.streaming_content, maxlen=0)


def forms_of_each_kind(client: Client, pages: Iterable[str]) -> Iterator[tuple[str, str, PageForm]]:
    """Yield (view, page, form), the form as it was just drawn."""
    seen = set()
    for page in pages:
        for form in forms_of(read(client, page)[1], page):
            view = resolve(form.address.partition("?")[0]).view_name
            kind = (view, *sorted({name for name, _ in form.values}), *form.buttons[:1])
            if kind not in seen and form.address.startswith("/t/"):
                seen.add(kind)
                yield view, page, form


def test_each_form_sent_twice_does_it_once(make: Callable[..., Place]) -> None:
    place = furnish(make)
    client = place.client()
    did, twice = set(), []
    for view, page, form in forms_of_each_kind(client, pages_of(client, f"/t/{place.tenant.slug}/")):
        point = transaction.savepoint()
        counts = [written()]
        for _ in range(2):
            send(client, page, form)
            counts.append(written())
        transaction.savepoint_rollback(point)
        first, second = counts[1] - counts[0], counts[2] - counts[1]
        did |= {view} if first else set()
        if second and view not in EACH_TIME:
            twice.append(f"{view}: {dict(first)}, {dict(second)}")
    assert not twice, "\n".join(twice)
    assert len(did) > 20


@pytest.mark.parametrize("headers", [{}, {"sec-purpose": "prefetch", "purpose": "prefetch"}], ids=["opened", "fetched"])
def test_opening_an_address_does_nothing(make: Callable[..., Place], headers: dict[str, str]) -> None:
    """Check for a mail scanner, a browser that prefetches, and a person who opens a form's address."""
    place = furnish(make)
    client = place.client()
    pages = pages_of(client, f"/t/{place.tenant.slug}/")
    posts = {each.address for _, _, each in forms_of_each_kind(client, pages)}
    did = []
    for path in (*pages, *sorted(posts)):
        before = written()
        answer: Any = client.get(path, headers=headers)
        if answer.streaming:
            deque(answer.streaming_content, maxlen=0)
        if found := written() - before:
            view = resolve(path.partition("?")[0]).view_name
            did += [f"{path}: {dict(found)}"] if view not in LOOKS else []
    assert not did, "\n".join(did)
    assert len(pages) > 40
    assert len(posts) > 40

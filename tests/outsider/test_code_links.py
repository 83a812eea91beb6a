"""A person with a link to a code, and a person without: what a phone shows, and what no one can find out."""

import base64
import re
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.codes import actions, views
from portal.domain.people.models import Guest
from portal.domain.visits.models import CodeLink, DeskSettings, Visit
from tenants.models import AuditEntry
from tenants.scope import tenant_scope
from tests.support.codes import CODE, hours_from_now, read_svg, stranger, visit
from tests.support.members import said


@pytest.fixture
def guest(place):
    return visit(place, "田中 愛子", company="株式会社みらい", host_name="鈴木 一郎")


def made(place, guest):
    with tenant_scope(place.tenant):
        return actions.create_link(visit=guest, by=place.asker, base="https://portal.example")


def opened(url, language="en"):
    return stranger(language).get(url.removeprefix("https://portal.example"))


def changed(place, row, **values):
    with tenant_scope(place.tenant):
        type(row).objects.filter(pk=row.pk).update(**values)


def test_the_phone_shows_the_code_and_its_hours_and_nothing_else(place, guest):
    link = made(place, guest)
    answer = opened(link.url)
    assert answer.status_code == 200
    page = answer.content.decode()
    assert read_svg(page) == [CODE]
    assert "Active now" in said(answer)
    assert f"{guest.use_date_end.astimezone():%H:%M}"[-2:] in said(answer)
    everything = page + repr(sorted(answer.headers.items())) + repr(answer.cookies)
    secrets = ["田中", "愛子", "みらい", "鈴木", guest.guest_id, place.tenant.slug, place.tenant.name, CODE, "/t/"]
    secrets += [
        place.service.tenant_id,
        place.connection.service_tenant_id,
        actions.parse_token(_token(link)).digest.hex(),
    ]
    assert [each for each in secrets if each and each.lower() in everything.lower()] == []


def _token(link):
    return link.url.rstrip("/").rpartition("/")[2]


def test_no_copy_of_it_stays_anywhere(place, guest):
    answer = opened(made(place, guest).url)
    assert "no-store" in answer["Cache-Control"]
    assert answer["Referrer-Policy"] == "no-referrer"
    assert "noindex" in answer["X-Robots-Tag"]
    assert not answer.cookies
    page = answer.content.decode()
    assert (
        re.findall(r'(?:href|src|action)="(?!/static/|data:,)', page) == []
    )  # works without a network once it is loaded
    assert "style=" not in page


def test_the_phone_speaks_its_own_language(place, guest):
    link = made(place, guest)
    assert 'lang="ja"' in opened(link.url, "ja-JP,ja;q=0.9").content.decode()
    assert 'lang="en"' in opened(link.url, "fr").content.decode()


def test_before_the_start_it_says_from_when(place):
    later = visit(place, start=hours_from_now(hours=2), end=hours_from_now(hours=5))
    answer = opened(made(place, later).url)
    assert answer.status_code == 200
    assert re.search(r'data-now="not_yet"', answer.content.decode())


ENDS = {
    "the guest's end": lambda place, link, guest: changed(place, guest, use_date_end=hours_from_now(seconds=-1)),
    "its own end": lambda place, link, guest: changed(place, link.link, expires_at=hours_from_now(seconds=-1)),
    "revoking": lambda place, link, guest: _revoke(place, guest),
    "a newer link": lambda place, link, guest: made(place, guest),
    "cutting short": lambda place, link, guest: changed(place, guest, must_end_at=hours_from_now(hours=1)),
    "deletion at the service": lambda place, link, guest: changed(place, guest, gone_at=hours_from_now()),
    "erasure": lambda place, link, guest: changed(place, guest, erased_at=hours_from_now(), guest_name=""),
    "a code that nobody knows": lambda place, link, guest: _forget(place, guest),
}


def _headers(answer):
    return {name: value for name, value in answer.headers.items() if name != "Expires"}  # this very second


def _revoke(place, guest):
    with tenant_scope(place.tenant):
        assert actions.revoke_link(visit=guest, by=place.asker)


def _forget(place, guest):
    with tenant_scope(place.tenant):
        Guest.objects.filter(guest_id=guest.guest_id).update(qrcode_data=None)


@pytest.mark.parametrize("end", ENDS)
def test_every_link_that_does_not_work_answers_alike(place, guest, end):
    never = actions.create_token(place.tenant.pk).text
    unknown = opened(f"/g/{never}/")
    link = made(place, guest)
    assert opened(link.url).status_code == 200
    ENDS[end](place, link, guest)
    ended = opened(link.url)
    assert ended.status_code == unknown.status_code == 404
    assert ended.content == unknown.content == opened("/g/made-up/").content
    assert _headers(ended) == _headers(unknown)
    assert "no longer valid" in said(ended)


def test_an_extended_visit_keeps_its_link(place, guest):
    link = made(place, guest)
    changed(place, guest, use_date_end=guest.use_date_end + timedelta(hours=5))
    assert opened(link.url).status_code == 200


def test_the_tenant_may_keep_links_short(place, guest):
    with tenant_scope(place.tenant):
        DeskSettings.objects.create(link_minutes=30)
    link = made(place, guest)
    assert timedelta(minutes=29) < link.link.expires_at - hours_from_now() < timedelta(minutes=31)


def test_a_missing_link_costs_as_much_as_a_working_one(place, guest):
    link = made(place, guest)
    counts = []
    for address in (link.url, f"/g/{actions.create_token(place.tenant.pk).text}/", "/g/made-up/", f"/g/{'A' * 54}/"):
        with CaptureQueriesContext(connection) as queries:
            opened(address)
        counts.append(len([each for each in queries if "visits_" in each["sql"] or "people_" in each["sql"]]))
    assert len(set(counts)) == 1, counts
    assert counts[0] <= 4


def test_a_token_of_another_site_or_tenant_opens_nothing(make, place, guest, settings):
    other = make()
    link = made(place, guest)
    text = _token(link)
    assert actions.parse_token(text).tenant_id == place.tenant.pk
    with tenant_scope(other.tenant):
        assert not CodeLink.objects.filter(digest=actions.parse_token(text).digest).exists()
    flipped = text[:-2] + ("A" if text[-2] != "A" else "B") + text[-1]
    assert actions.parse_token(flipped) == actions.NO_TOKEN
    for broken in (text[:-1], text + "A", text + "=", text.swapcase(), "é" * 54, "", "-" * 54):
        assert opened(f"/g/{broken}/").status_code == 404
    settings.SECRET_KEY = "another site's key, which is as long as it must be, and longer"
    assert actions.parse_token(text) == actions.NO_TOKEN
    settings.SECRET_KEY_FALLBACKS = []


def test_a_rotated_key_still_opens_what_was_made_before(place, guest, settings):
    link = made(place, guest)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a new key " * 8, [settings.SECRET_KEY]
    assert opened(link.url).status_code == 200


def test_no_two_tokens_show_that_they_belong_together(place):
    some = [actions.create_token(place.tenant.pk).text for _ in range(50)]
    assert len({text[:8] for text in some}) == len({text[-8:] for text in some}) == 50


def _secret(text):
    """Return the secret part of a token: with the site's key, it is enough to create the token again."""
    [key, *_] = actions._token_keys()
    return AESSIV(key).decrypt(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), None)[-16:]


def test_only_a_digest_is_kept_and_the_trail_says_who(place, guest):
    link = made(place, guest)
    opened(link.url)
    with tenant_scope(place.tenant):
        row = CodeLink.objects.get()
        assert row.opened == 1
        assert bytes(row.digest) == actions.parse_token(_token(link)).digest
        assert _secret(_token(link)) not in bytes(row.digest)
        entry = AuditEntry.objects.get(action="guest.code_linked")
        assert entry.by == place.owner
        assert _token(link) not in f"{entry.target}{entry.summary}{entry.before}{entry.after}"
        assert Visit.objects.get(pk=guest.pk).links.count() == 1


def test_the_address_never_reaches_a_log(place, guest, caplog, capsys):
    link = made(place, guest)
    _revoke(place, guest)
    with caplog.at_level("DEBUG"):
        opened(link.url)
        stranger().post(link.url.removeprefix("https://portal.example"))
    from portal.site.log_settings import remove_queries

    kept = [str(remove_queries(None, "", {"event": record.getMessage()})) for record in caplog.records]
    assert _token(link) not in "".join(kept)
    told = remove_queries(
        None, "", {"event": "x", "request": f"GET /g/{_token(link)}/", "referer": f"/g/{_token(link)}/"}
    )
    assert _token(link) not in str(told)


@pytest.mark.parametrize("kind", ["g", "hooks", "invitations", "accounts/password/reset/key"])
def test_of_an_address_that_is_a_secret_a_log_keeps_only_what_it_was(kind):
    from portal.site.log_settings import remove_queries

    told = remove_queries(None, "", {"event": f"Not Found: /{kind}/t0k-en/", "path": f"/{kind}/t0k-en/?next=1"})
    assert told == {"event": f"Not Found: /{kind}/…/", "path": f"/{kind}/…/"}


def test_only_reading_is_possible(place, guest):
    address = made(place, guest).url.removeprefix("https://portal.example")
    client = stranger()
    for look in (client.head, client.get, client.get):  # as a scanner of mails does before the guest
        assert look(address).status_code == 200
    for method in (client.post, client.put, client.delete):
        assert method(address).status_code == 405
    assert read_svg(stranger().get(address).content.decode()) == [CODE]


def test_nobody_tries_thousands(place, guest, monkeypatch):
    monkeypatch.setattr(views, "MOST_A_MINUTE", 5)
    path = made(place, guest).url.removeprefix("https://portal.example")
    client = stranger()
    codes = [client.get(path).status_code for _ in range(5)]
    assert set(codes) <= {200, 429}
    until_refused = [client.get("/g/made-up/").status_code for _ in range(12)]  # a minute may begin in between
    assert 429 in until_refused
    if client.get(path).status_code == 429:
        assert "Please wait a moment" in said(client.get(path))

"""The console at /console/, in a browser that runs no script."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.console_browser import Visitor
from tests.support.effort import examples
from tests.support.sandbox import ROOT, Sandbox
from tests.support.sandbox_building import NOTHING, House

#: Styles and scripts within a page, and addresses of other servers.
_FOREIGN = re.compile(r"<style|style=|\son\w+=|<script(?! src=)|javascript:|(src|href)=\"(https?:)?//(?!127)")


@pytest.fixture
def visitor(sandbox: Sandbox) -> Iterator[Visitor]:
    with Visitor(sandbox.url) as somebody:
        yield somebody


@pytest.fixture
def place(house: House) -> str:
    return f"/t/{house.tenant.tenant_id}/"


def test_a_card_is_shown_and_the_record_of_it_is_seen_at_once(house: House, visitor: Visitor, place: str) -> None:
    house.member(card_data="CARD1")
    visitor.look(f"{place}?at={house.door}&q=花子")
    found = re.search(r'href="(\?[^"]*who=[^"]*)#here"', visitor.page.text)
    assert found
    assert "山田 花子" in visitor.look(place + found[1].replace("&amp;", "&"))
    said = visitor.send("present", shows="card")
    assert "Access granted" in said
    assert "everything here is allowed" in said
    record = house.last()
    assert (record["_content"], record["member"]["name"]) == ("Entry", "山田 花子")
    assert f'id="log-{record["history_id"]}"' in visitor.page.text
    assert f"Record written {record['history_id']}" in said
    assert "Open" in said
    # The message is shown once.
    assert "Record written" not in visitor.look(str(visitor.page.url))


def test_a_refusal_says_why_in_the_readers_language(house: House, sandbox: Sandbox, place: str) -> None:
    member = house.member(card_data="CARD1", devices_pass=NOTHING)
    with Visitor(sandbox.url, "ja") as visitor:
        visitor.look(f"{place}?at={house.door}&who={member}")
        assert "拒否：権限なし" in visitor.send("present", shows="card")
        visitor.look(f"{place}?at={house.door}")
        assert "このカードは登録されていません" in visitor.send("present", shows="typed", kind="card", value="NOBODY")
    assert house.last()["category"] == "suspicious"


def test_a_one_time_code_is_worked_out_for_whoever_stands_there(house: House, visitor: Visitor, place: str) -> None:
    member = house.member(qrcode={"data": "QR1", "one_time_qr": {"enabled": True, "timestep": 30, "skew": 0}})
    visitor.look(f"{place}?at={house.door}&who={member}")
    assert "Access granted" in visitor.send("present", shows="one_time")
    visitor.look(f"{place}?at={house.door}")
    assert "one-time code" in visitor.send("present", shows="typed", kind="qr", value="QR1")


def test_a_guest_shows_their_code(house: House, visitor: Visitor, place: str) -> None:
    start, end = "2020-01-01T00:00:00+09:00", "2090-01-01T00:00:00+09:00"
    area = house.areas[0]["area_id"]
    guest = house.guest("VISIT1", use_date_start=start, use_date_end=end, area_id_list=[area])
    assert "guest" in visitor.look(f"{place}?at={house.door}&who={guest}")
    assert "Access granted" in visitor.send("present", shows="qr")


def test_a_mail_is_read_with_a_code_that_can_be_scanned(house: House, visitor: Visitor, place: str) -> None:
    period = {"use_date_start": "2020-01-01T00:00:00+09:00", "use_date_end": "2090-01-01T00:00:00+09:00"}
    method = {"email": "guest@example.com", "remarks": "正面から<b>どうぞ"}
    house.call("POST", "/v1/guests", {"guest_name": "来客", "qrcode_issuing_method": method} | period)
    visitor.look(place)
    address = re.search(r'href="/console(/t/[^"]+/mails/\d+/)"', visitor.page.text)
    assert address
    assert "guest@example.com" in visitor.look(address[1])
    assert "正面から&lt;b&gt;どうぞ" in visitor.page.text
    assert re.search(r'<p class="scan"><svg[^>]*>.*<path', visitor.page.text)
    assert not _FOREIGN.search(visitor.page.text)
    assert "Page not found" in visitor.look(f"{place}mails/{10**30}/")


def test_keys_are_taken_and_given_back(house: House, visitor: Visitor, place: str) -> None:
    member, unit_no = house.member(card_data="CARD1"), house.free_key()
    visitor.look(f"{place}?at={house.box}&who={member}")
    assert "Key taken" in visitor.send("key", shows="card", take=unit_no, second_factor="true")
    assert house.keys()[unit_no] == "taken"
    assert "山田 花子, since" in visitor.look(f"{place}?at={house.box}&who={member}")
    assert "Key returned" in visitor.send("key", shows="card", bring=unit_no)
    assert house.keys()[unit_no] == "return"
    assert "The key is in the box" in visitor.send("key", shows="card", bring=unit_no)
    form = visitor.form("key")
    form.values.pop("second_factor")
    refused = visitor.post(f"{place}?at={house.box}&who={member}", **form.values | {"shows": "card", "take": unit_no})
    assert refused.status_code == 302
    assert "the second factor is missing" in visitor.look(str(visitor.page.url))


def test_a_wrong_key_is_put_in_the_place_of_one_that_is_out(house: House, visitor: Visitor, place: str) -> None:
    member, unit_no = house.member(card_data="CARD1"), house.free_key()
    visitor.look(f"{place}?at={house.box}&who={member}")
    visitor.send("key", shows="card", take=unit_no, second_factor="true")
    assert "Wrong key inserted" in visitor.send("key", shows="card", replace=unit_no)
    assert "wrong key in this place" in visitor.look(f"{place}?at={house.box}&who={member}")
    assert f'id="replace-{unit_no}-button"' not in visitor.page.text
    visitor.send("key", shows="card", bring=unit_no)
    assert "wrong key in this place" not in visitor.look(f"{place}?at={house.box}&who={member}")


def test_doors_are_broken_and_mended(house: House, visitor: Visitor, place: str) -> None:
    visitor.look(f"{place}?at={house.door}")
    assert "Forced open" in visitor.send("door", do="force")
    assert house.status()["errors"] == ["forced_open"]
    assert "Closed" in visitor.send("door", do="close")
    assert house.status()["door"] == "close"
    assert "Left open" in visitor.send("door", do="hold")
    visitor.send("lines", do="cut_power")
    assert "No power" in visitor.send("lines", do="cut_connection")
    shown = visitor.send("present", shows="typed", kind="card", value="X")
    assert "The device has no power. No record was written." in shown
    assert "Records in offline devices" in shown
    visitor.send("lines", do="restore_power")
    assert "Reconnected" in visitor.send("lines", do="restore_connection")
    assert [record["_content"] for record in house.histories(limit=2)] == ["Connection lost", "Power cut"]


def test_a_key_box_is_set_as_the_member_site_would(house: House, visitor: Visitor, place: str) -> None:
    visitor.look(f"{place}?at={house.box}")
    assert 'name="guest_keys_enabled" value="true" checked' in visitor.page.text
    form = visitor.form("box")
    del form.values["guest_keys_enabled"]
    assert visitor.post(f"{place}?at={house.box}", **form.values).status_code == 302
    visitor.look(f"{place}?at={house.box}")
    assert 'name="guest_keys_enabled" value="true">' in visitor.page.text
    assert 'name="temporary_use_enabled" value="true" checked' in visitor.page.text


def test_what_is_missing_is_said_beside_the_field_and_nothing_is_lost(
    house: House, visitor: Visitor, place: str
) -> None:
    visitor.look(f"{place}?at={house.door}&q=abc")
    assert "Enter a value." in visitor.send("present", shows="typed", kind="face", value=" ")
    assert visitor.page.status_code == 422
    assert 'id="present-value-error"' in visitor.page.text
    assert '<option value="face" selected>' in visitor.page.text
    assert 'value="abc"' in visitor.page.text
    assert "At most 1000 characters." in visitor.send("present", shows="typed", value="x" * 1001)
    assert "x" * 1001 in visitor.page.text
    assert "Choose a door" in visitor.look(f"{place}?at=nothing")
    visitor.look(f"{place}?at={house.door}")
    assert visitor.post(place, act="door", do="force").status_code == 422
    assert visitor.post(place, act="present", shows="card").status_code == 422


def test_the_clock_of_a_tenant_is_moved_and_put_back(
    house: House, sandbox: Sandbox, visitor: Visitor, place: str
) -> None:
    key = house.tenant.tenant_id
    visitor.look(f"{place}controls/")
    seconds = 123 * 86400  # no other tenant's clock is so far ahead
    assert "moved by +123 d" in visitor.send("clock", having={"way": "by"}, seconds=str(seconds))
    assert seconds - 1 < (sandbox.now(key) - sandbox.now()).total_seconds() < seconds + 1
    assert "+123 d" in visitor.look(f"/?q={key}")
    visitor.look(f"{place}controls/")
    visitor.send("clock", having={"way": "to"}, at="2030-04-01T09:00")
    assert sandbox.now(key).isoformat().startswith("2030-04-01T09:00:0")
    assert "2030-04-01 09:00:0" in visitor.look(place)
    visitor.look(f"{place}controls/")
    assert "ten years" in visitor.send("clock", having={"way": "to"}, at="2100-01-01T00:00")
    assert "A date and a time" in visitor.send("clock", having={"way": "to"}, at="tomorrow")
    assert 'value="tomorrow"' in visitor.page.text
    visitor.post(f"{place}controls/", act="clock", way="back")
    assert abs((sandbox.now(key) - sandbox.now()).total_seconds()) < 1


def test_faults_are_asked_for_counted_and_cleared(house: House, sandbox: Sandbox, visitor: Visitor, place: str) -> None:
    sandbox.clear_faults()
    visitor.look(f"{place}controls/")
    shown = visitor.send("fault", kind="status", operation="24", status="503", count="2", reset="9", limit="9")
    assert "HTTP error 2 left" in shown
    assert "list_areas" in shown
    assert sandbox.api("GET", "/v1/areas", token=house.tenant.token).status_code == 503
    assert "HTTP error 1 left" in visitor.look(f"{place}controls/")
    assert "Faults 1" in visitor.look(place)
    assert "Pending faults: 1" in visitor.look("/")
    visitor.look(f"{place}controls/")
    shown = visitor.send("fault", kind="status", status="200", count="0", seconds="a lot")
    assert all(sentence in shown for sentence in ("At least 400.", "Enter a number.", "At least 1."))
    assert 'value="a lot"' in visitor.page.text
    assert "No pending faults." in visitor.send("clear")
    assert sandbox.faults(house.tenant.tenant_id) == []


def test_behaviour_is_set_and_given_back_to_the_default(
    house: House, sandbox: Sandbox, visitor: Visitor, place: str
) -> None:
    key = house.tenant.tenant_id
    visitor.look(f"{place}controls/")
    wrong = visitor.send("settings", relock_seconds="-1", face_seconds="soon", passages_per_hour="1e999")
    assert ("At least 0.0." in wrong, "Enter a number." in wrong) == (True, True)
    assert 'value="soon"' in visitor.page.text
    assert sandbox.look("settings", tenant_id=key)["relock_seconds"] == 5
    assert "set here" in visitor.send(
        "settings", relock_seconds="7.5", face_seconds="", passages_per_hour="", reissue_kills_old="false"
    )
    now = sandbox.look("settings", tenant_id=key)
    assert (now["relock_seconds"], now["reissue_kills_old"], now["face_seconds"]) == (7.5, False, 2)
    visitor.send("settings", relock_seconds="", reissue_kills_old="")
    now = sandbox.look("settings", tenant_id=key)
    assert (now["relock_seconds"], now["reissue_kills_old"]) == (5, True)


def test_a_tenant_is_created_found_and_entered(visitor: Visitor) -> None:
    visitor.look("/")
    assert "Enter a value." in visitor.send("create", name="", members="-1", contracts=["door", "qr"])
    assert "At least 0." in visitor.page.text
    assert re.search(r'value="qr" checked', visitor.page.text)
    said = visitor.send("create", name="Ōkawa & Söhne", members="3", contracts=["door", "qr"], tenant_id="okawa")
    assert "Tenant created · Ōkawa &amp; Söhne" in said
    row = visitor.look("/?q=kawa")
    assert "okawa" in row
    assert "Key boxes 0" not in row
    assert "Another tenant uses this." in visitor.send("create", name="Again", tenant_id="okawa")
    assert "No tenant matches." in visitor.look("/?q=nobody-has-this-name")
    assert "Ōkawa" in visitor.look("/?q=okawa&page=9999999999999999999999")
    assert "Remote operation" not in visitor.look("/t/okawa/")


def test_tenants_fill_pages(sandbox: Sandbox, visitor: Visitor) -> None:
    for number in range(27):
        sandbox.tenant(token=False, name=f"Many {number}", guests=0)
    assert "Page 1 of 2" in visitor.look("/?q=Many")
    assert "Many 26" in visitor.look(
        re.search(r'rel="next" href="([^"]+)"', visitor.page.text)[1].replace("&amp;", "&")
    )


def test_a_client_is_registered_and_changed(sandbox: Sandbox, visitor: Visitor) -> None:
    visitor.look("/")
    assert "Enter at least one address." in visitor.send("register", name="Portal")
    said = visitor.send("register", name="Portal", client_id="portal", redirect_uris="http://a/b\r\n\r\nhttp://c/d")
    assert "Client registered" in said
    found = next(one for one in sandbox.look("clients")["clients"] if one["client_id"] == "portal")
    assert found["redirect_uris"] == ["http://a/b", "http://c/d"]
    visitor.send("register", name="Other", client_id="portal", redirect_uris="http://e/f", scopes=["areas:read"])
    changed = next(one for one in sandbox.look("clients")["clients"] if one["client_id"] == "portal")
    assert (changed["name"], changed["scopes"]) == ("Other", ["areas:read"])
    assert changed["client_secret"] == found["client_secret"]


def test_forms_from_elsewhere_are_refused_with_a_page(house: House, visitor: Visitor, place: str) -> None:
    visitor.look(f"{place}?at={house.door}")
    form = visitor.form("door").values | {"do": "force"}
    without = visitor.http.post(f"{place}?at={house.door}", data=form | {"csrfmiddlewaretoken": ""})
    elsewhere = visitor.http.post(f"{place}?at={house.door}", data=form, headers={"Origin": "http://evil.example"})
    for answer in (without, elsewhere):
        assert answer.status_code == 403
        assert "was not accepted" in answer.text
    assert house.status()["door"] == "close"


def test_what_is_not_there_is_a_page_too(sandbox: Sandbox, visitor: Visitor) -> None:
    for path in ("/t/nobody/", "/t/%00/", "/t/nobody/controls/", "/nothing", "/t/a/b/c", "/t/"):
        answer = visitor.http.get(path)
        assert (answer.status_code, answer.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
        assert "Page not found" in answer.text
    assert visitor.http.delete("/").status_code == 405
    assert visitor.http.get("/", headers={"Host": "evil.example"}).status_code == 400
    assert "ページが見つかりません" in visitor.http.get("/x", headers={"Accept-Language": "ja"}).text


def test_too_much_is_refused_with_a_page(visitor: Visitor) -> None:
    visitor.look("/")
    assert visitor.post("/", act="create", name="x" * 2_000_000).status_code == 400
    assert visitor.http.post(
        "/", content=b"--x", headers={"Content-Type": "multipart/form-data; boundary=x"}
    ).status_code in (400, 403)


def test_pages_need_nothing_but_their_own_files(house: House, visitor: Visitor, place: str) -> None:
    for path in ("/", "/controls/", f"{place}?at={house.door}", f"{place}controls/", "/nothing"):
        visitor.look(path)
        policy = visitor.page.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert not re.search(
            r"<style|style=|\son\w+=|<script(?! src=)|javascript:|(src|href)=\"(https?:)?//(?!127)", visitor.page.text
        )
        for address in re.findall(r'(?:src|href)="/console(/static/[^"]+)"', visitor.page.text):
            file = visitor.http.get(address)
            assert file.status_code == 200
            assert "immutable" in file.headers["Cache-Control"]
    assert visitor.http.get("/static/0/console.css").headers["Cache-Control"] == "no-cache"
    assert visitor.http.get("/static/0/..%2Fviews.py").status_code == 404


def test_language_and_look_are_chosen_and_kept(house: House, visitor: Visitor, place: str) -> None:
    assert "Areas and doors" in visitor.look(place)
    assert "エリアと扉" in visitor.look(f"{place}?at={house.door}&lang=ja")
    assert str(visitor.page.url).endswith(f"{place}?at={house.door}")
    assert "エリアと扉" in visitor.look(place)
    visitor.look(f"{place}?theme=dark&lang=xx")
    assert '<html lang="ja" data-theme="dark">' in visitor.page.text


def test_the_live_parts_come_alone(house: House, visitor: Visitor, place: str) -> None:
    visitor.look(f"{place}?at={house.door}")
    whole = set(re.findall(r'id="([^"]+)"[^>]* data-live[ >]', visitor.page.text))
    visitor.look(f"{place}?at={house.door}", headers={"Sandbox-Live": "1"})
    assert set(re.findall(r'id="([^"]+)"[^>]* data-live[ >]', visitor.page.text)) == whole
    assert len(whole) > 10
    assert "<input" not in visitor.page.text
    assert "<script" not in visitor.page.text


def test_nothing_that_is_sent_makes_it_fail(sandbox: Sandbox, house: House, visitor: Visitor, place: str) -> None:
    texts = st.sampled_from(
        ["", "\0", "1", "-1", "1e400", "nan", "9" * 40, "x" * 3000, "𠮷", "true", "typed", "card", "by", "to", "back"]
    ) | st.text(max_size=20)
    names = ["act", "shows", "kind", "value", "take", "bring", "do", "seconds", "way", "at", "name", "members", "seed",
             "contracts", "tenant_id", "redirect_uris", "scopes", "operation", "count", "status", "fault", "body",
             "relock_seconds", "limited", "clock_offset", "word", "reset", "limit", "error_code"]  # fmt: skip
    acts = ["present", "key", "door", "lines", "box", "clock", "fault", "clear", "settings", "create", "register", "?"]
    queries = st.dictionaries(st.sampled_from(["at", "who", "q", "page", "lang", "theme"]), texts, max_size=3)
    paths = st.sampled_from([("/", ""), (place, house.door), (place, house.box), (f"{place}controls/", "")])
    visitor.look("/")

    @settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
    @given(paths, st.sampled_from(acts), st.dictionaries(st.sampled_from(names), texts, max_size=5), queries)
    def attack(path: tuple[str, str], act: str, values: dict[str, str], query: dict[str, str]) -> None:
        answer = visitor.http.get(path[0], params=query)
        assert answer.status_code in (200, 302)
        token = visitor.form("create").values["csrfmiddlewaretoken"]
        query = {"at": path[1]} | query
        answer = visitor.http.post(path[0], params=query, data={"act": act} | values | {"csrfmiddlewaretoken": token})
        assert answer.status_code in (302, 422)

    attack()
    visitor.look(place)
    assert visitor.page.status_code == 200


def test_without_a_console_there_are_no_pages(sandbox: Sandbox) -> None:
    code = "import django; django.setup(); from django.urls import resolve; print(resolve('/console/').func.__name__)"
    environment = os.environ | {
        "SANDBOX_DATABASE_URL": sandbox.database_url,
        "SANDBOX_CONSOLE": "0",
        "DJANGO_SETTINGS_MODULE": "sandbox.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    assert done.stdout.strip() == "answer"

"""The visitor reads forms as a browser would send them."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs

import pytest

from demo.page_client import PageClient, UnexpectedPage

_PAGE = """<form action="/search"><input name="q"></form>
<form method="post" action="save"><input type="hidden" name="token" value="t&amp;1">
<input name="name" value="old">
<select name="role"><option value="a">A</option><option value="b" selected>B</option></select>
<input type="checkbox" name="off"><input type="checkbox" name="on" checked><textarea name="note"></textarea>
<label><input type="checkbox" name="area" value="a1"> Hall</label>
<label><input type="checkbox" name="area" value="a2">倉庫</label>
<button name="decision" value="allow">Allow</button></form>"""


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer(404 if self.path == "/gone" else 200, _PAGE)

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._answer(200, f"{self.path} {sorted(parse_qs(sent, keep_blank_values=True).items())}")

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Site) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_form_sends_what_a_browser_would(site: str) -> None:
    with PageClient() as visitor:
        visitor.open(f"{site}/people/1")
        answer = visitor.submit(visitor.find_form(field="name"), name="new", decision="allow")
    assert answer.text == "/people/save " + str(
        [
            ("decision", ["allow"]),
            ("name", ["new"]),
            ("note", [""]),
            ("on", ["on"]),
            ("role", ["b"]),
            ("token", ["t&1"]),
        ]
    )


def test_a_form_is_found_by_its_action_or_button(site: str) -> None:
    with PageClient() as visitor:
        visitor.open(site)
        assert visitor.find_form(action="search").method == "get"
        assert visitor.find_form(button="decision").action == "save"


def test_an_unexpected_page_is_told(site: str) -> None:
    with PageClient() as visitor:
        with pytest.raises(UnexpectedPage, match="404"):
            visitor.open(f"{site}/gone")
        visitor.open(site)
        with pytest.raises(UnexpectedPage, match="no form with 'password'"):
            visitor.find_form(field="password")


def test_what_can_be_ticked_is_known_by_its_label(site: str) -> None:
    with PageClient() as visitor:
        visitor.open(site)
        form = visitor.find_form(field="role")
        assert form.checkboxes == {"area": {"Hall": "a1", "倉庫": "a2"}}
        answer = visitor.submit(form, area=["a1", "a2"])
    assert "('area', ['a1', 'a2'])" in answer.text

"""The address to which the service posts: who has access, what is answered, and that no body breaks it."""

import base64
import json
import logging
import time
from datetime import timedelta
from io import BytesIO

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from portal.base.timers.clock import database_now
from portal.webhooks import message_queue, receiving
from portal.webhooks.message_queue import ReceivedMessage
from portal.webhooks.models import Notification, digest_token
from portal.webhooks.receiving import MAX_SIGNATURES
from tenants.scope import tenant_scope
from tests.support.hooks import Hook, as_bytes, notification, sign
from tests.webhooks.conftest import Post


def stored(hook: Hook) -> list[Notification]:
    with tenant_scope(hook.tenant):
        return list(Notification.objects.order_by("pk"))


class TestTheService:
    @pytest.mark.parametrize("prefix", ["", "sha256=", "SHA256=", "sha-256=", "sha256:", "HMAC-SHA256 ", " mac="])
    @pytest.mark.parametrize("encoding", ["hex", "HEX", "base64", "urlsafe", "unpadded"])
    def test_is_heard_however_it_writes_its_signature(self, hook, post: Post, process, prefix, encoding):
        for number in range(8):  # so many digests contain every character of their alphabet
            raw = as_bytes(notification(f"h-{number}"))
            digest = bytes.fromhex(sign(raw, hook.secret))
            written = {
                "hex": digest.hex(),
                "HEX": digest.hex().upper(),
                "base64": base64.b64encode(digest).decode(),
                "urlsafe": base64.urlsafe_b64encode(digest).decode(),
                "unpadded": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            }[encoding]
            assert post(raw, headers=hook.headers(raw, **{hook.signature_header: prefix + written})) == 204
        process.flush()
        assert len(stored(hook)) == 8

    @pytest.mark.parametrize("written", [
        "v1={hex}", "t=1700000000,v1={hex}", "t=1700000000, v1={base64}", "v1,{base64}", "v1={hex};t=1700000000",
        "{wrong},{hex}", "{hex} {wrong}", "v1={wrong},v1={hex}", "v1,{other} v1,{base64}", "sha256={hex},sha256={hex}",
        "v0={wrong},v1={base64}", 'signature="{base64}"', 'keyId="a",algorithm="hmac-sha256",signature="{base64}"',
        "sha1={short}, sha256={hex} ", "{hex}, {hex}", "{wrong}\t{hex}",
    ])  # fmt: skip
    def test_is_heard_where_its_signature_is_a_list_with_a_right_one(self, hook, post: Post, written):
        raw = as_bytes(notification())
        digest = bytes.fromhex(sign(raw, hook.secret))
        both = {"hex": digest.hex(), "base64": base64.b64encode(digest).decode()}
        told = written.format(**both, wrong="0" * 64, other="A" * 43 + "=", short="0" * 40)
        assert post(raw, headers=hook.headers(raw, **{hook.signature_header: told})) == 204
        wrong = told.replace(both["hex"], "1" * 64).replace(both["base64"], "B" * 43 + "=")
        assert post(raw, headers=hook.headers(raw, **{hook.signature_header: wrong})) == 401

    def test_is_heard_with_the_headers_of_the_overrides_file(self, make, post: Post, process):
        other = Hook(make(overrides='[webhook]\nid_header = "X-Other-Id"\nsignature_header = "X-Other-Mac"').tenant)
        raw = as_bytes(notification("h-1"))
        assert post(raw, by=other, headers={"X-Other-Id": "d-1", "X-Other-Mac": sign(raw, other.secret)}) == 204
        assert post(raw, by=other, headers={"X-Splats-Signature": sign(raw, other.secret)}) == 401
        process.flush()
        assert [(each.history_id, each.delivery_id) for each in stored(other)] == [("h-1", "d-1")]

    def test_is_heard_whatever_its_body_looks_like_by_the_overrides_file_alone(self, make, post: Post, process):
        names = '{ history_id = "number", datetime = "time.at", device_id = "place.id", tenant_id = "house" }'
        other = Hook(make(overrides=f'[webhook]\nrecord = "notice.record"\nnames = {names}').tenant)
        at = database_now().replace(microsecond=0)
        record = {"number": "h-1", "time": {"at": at.isoformat()}, "place": {"id": "D1"}, "status": "occur"}
        assert post({"house": "t-1", "notice": {"record": record, "of": 1}}, by=other) == 204
        assert post(notification("h-2"), by=other) == 204, "as published"
        process.flush()
        first, second = stored(other)
        assert (first.history_id, first.at, second.history_id) == ("h-1", at, "h-2")
        told = {"history_id": "h-1", "datetime": at.isoformat(), "device_id": "D1", "tenant_id": "t-1"}
        assert first.body == {**told, "status": "occur"}

    def test_is_heard_with_the_former_secret_until_its_time_is_over(self, hook, post: Post):
        former, hook.secret = hook.secret, "new secret"
        hook.change(secret=hook.secret, former_secret=former)
        raw = as_bytes(notification())
        assert post(raw, headers=hook.headers(raw, former)) == 204, "the service has not answered yet"
        receiving.addresses._known.clear()
        hook.change(former_until=database_now() + timedelta(seconds=30))
        assert post(raw) == 204
        assert post(raw, headers=hook.headers(raw, former)) == 204
        hook.change(former_until=database_now() - timedelta(seconds=1))
        receiving.addresses._known.clear()
        assert post(raw, headers=hook.headers(raw, former)) == 401
        assert post(raw) == 204

    def test_is_heard_at_the_former_address_as_long_as_that_is_kept(self, hook, post: Post):
        new = "a new token"
        hook.change(token=new, token_digest=digest_token(new), former_digest=digest_token(hook.token))
        assert post(notification()) == 204
        assert post(notification(), path=f"/hooks/{new}/") == 204
        receiving.addresses._known.clear()
        hook.change(former_until=database_now() - timedelta(seconds=1))
        assert post(notification()) == 404

    def test_is_heard_once_for_each_history_id_however_often_and_in_whichever_order_it_tells(
        self, hook, post: Post, process
    ):
        for name in ("h-2", "h-1", "h-2", "h-1"):
            assert post(notification(name)) == 204
        process.flush()
        last_received_at = hook.row.last_received_at
        assert post(notification("h-1")) == 204
        process.flush()
        assert sorted(each.history_id for each in stored(hook)) == ["h-1", "h-2"]
        assert hook.row.last_received_at == last_received_at, "a repetition is no sign of life"

    @pytest.mark.parametrize("body", [
        b"", b"no JSON", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 30_000 + b"1" + b"}" * 30_000, b"[]", b"null", b"7",
        b'{"history_id": null}', b'{"history_id": []}', b'{"history_id": ""}', b'{"history_id": {"history_id": "x"}}',
        b'{"history_id": "' + b"x" * 5000 + b'"}', b'{"event": "test"}',
    ])  # fmt: skip
    def test_that_says_nothing_sensible_is_heard_all_the_same(self, hook, post: Post, process, body):
        assert post(body) == 204
        process.flush()
        assert hook.row.last_received_at is not None
        assert hook.row.due_at is not None
        assert [each.body for each in stored(hook)] == [{}]

    @pytest.mark.parametrize("odd", [
        {"datetime": "never"}, {"datetime": "9999-12-31T23:59:59-12:00"}, {"datetime": []}, {"category": 5},
        {"device_id": {"id": "D"}}, {"additional_info": "text"}, {"additional_info": {"member": []}},
        {"event_name": "a\0b"}, {"event_name": "\ud800"}, {"further": float("inf")}, {"further": float("nan")},
        {"a\0b": {"\ud800": ["\0"]}}, {"further": 10**4000}, {"further": [[[[]]]]},
    ])  # fmt: skip
    def test_that_says_odd_things_is_kept_with_what_can_be(self, hook, post: Post, process, odd):
        assert post(json.dumps(notification("h-1") | odd).encode()) == 204
        process.flush()
        assert [each.history_id for each in stored(hook)] == ["h-1"]
        assert stored(hook)[0].body["status"] == "occur"

    def test_leaves_no_secret_behind(self, hook, post: Post, process):
        assert post(notification("h-1", pin="1234", more={"password": "x", "kept": 1})) == 204
        process.flush()
        body = stored(hook)[0].body
        assert body["more"] == {"kept": 1}
        assert "pin" not in body
        assert body["additional_info"]["member"] == {"id": "m1", "name": "山田 太郎"}


class TestAForger:
    def test_is_refused_whatever_he_tries(self, hook, make, post: Post, process):
        other = Hook(make().tenant)
        raw = as_bytes(notification())
        right = hook.headers(raw)
        name = hook.signature_header
        attempts = [
            (raw, hook.headers(raw, "wrong")),
            (raw, hook.headers(raw, other.secret)),
            (raw, hook.headers(raw, "")),
            (raw, hook.headers(raw, **{name: None})),
            (raw + b" ", right),
            (raw[:-1], right),
            (bytes([raw[0] ^ 1]) + raw[1:], right),
            *[(raw, right | {name: wrong}) for wrong in (
                "", "sha256=", right[name][:-1], right[name][1:], right[name] + "0",
                f"{'0' * 64},{'A' * 43}", f"t=1700000000,v1={'0' * 64}", f"v1,{right[name]}0", f"v1=v1={right[name]}",
                ",".join(["0" * 64] * MAX_SIGNATURES + [right[name]]),
                "sha256=sha256=" + right[name], "sha512=" + right[name], "0" * 64, "A" * 43, "é" * 64,
            )],
        ]  # fmt: skip
        assert {post(body, headers=headers) for body, headers in attempts} == {401}
        process.flush()
        assert stored(hook) == []
        assert hook.row.last_received_at is None

    @pytest.mark.parametrize("secret", [None, ""])
    def test_is_refused_where_there_is_no_secret(self, hook, post: Post, secret):
        hook.change(secret=secret)
        raw = as_bytes(notification())
        assert post(raw, headers=hook.headers(raw, "")) == 401
        assert post(raw, headers={}) == 401

    def test_learns_nothing_of_addresses(self, hook, post: Post, client):
        raw = as_bytes(notification())
        unknown = client.post("/hooks/unknown/", raw, content_type="application/json", headers=hook.headers(raw))
        refused = client.post(hook.path, raw, content_type="application/json")
        assert (unknown.status_code, refused.status_code) == (404, 401)
        assert unknown.content == refused.content == b""

    def test_is_asked_for_no_more_than_the_bound_before_anything_is_read(self, hook, client, monkeypatch):
        monkeypatch.setattr(receiving.addresses, "find", None)  # the length alone decides

        class Unread(BytesIO):
            def read(self, *_size):
                raise AssertionError("the body was read")

        told = {"CONTENT_LENGTH": str(receiving.MAX_BODY_BYTES + 1), "wsgi.input": Unread()}
        assert client.generic("POST", hook.path, **told).status_code == 413

    def test_who_tells_no_length_is_read_to_the_bound_and_no_further(self, hook, client):
        asked = []

        class Endless(BytesIO):
            def read(self, size):
                asked.append(size)
                return b"x" * size

        told = {"wsgi.input": Endless(), "HTTP_TRANSFER_ENCODING": "chunked", "CONTENT_LENGTH": ""}
        assert client.generic("POST", hook.path, **told).status_code == 413
        assert asked == [receiving.MAX_BODY_BYTES + 1]

    def test_who_cuts_a_notification_off_is_not_heard(self, hook, client, process):
        raw = as_bytes(notification())
        signed = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in hook.headers(raw).items()}

        class Cut(BytesIO):
            def read(self, size):
                return raw

        told = signed | {"CONTENT_LENGTH": str(len(raw) + 1), "wsgi.input": Cut()}
        assert client.generic("POST", hook.path, **told).status_code == 401
        process.flush()
        assert stored(hook) == []

    @pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
    def test_who_does_not_post_is_told_so(self, hook, client, method):
        assert client.generic(method, hook.path).status_code == 405

    def test_finds_no_token_in_any_log(self, hook, post: Post, client, caplog, capsys):
        with caplog.at_level(logging.DEBUG):
            assert post(b"{}", headers={}) == 401
            assert client.get(hook.path).status_code == 405
            assert client.post(hook.path.rstrip("/")).status_code in (301, 404, 405, 500)
        said = capsys.readouterr()
        assert hook.token not in caplog.text + said.out + said.err


class TestTheDatabase:
    def test_is_not_asked_for_an_address_that_was_just_known(self, hook, post: Post, django_assert_num_queries):
        body = notification()
        assert post(body) == 204
        assert post(body, path="/hooks/unknown/") == 404
        with django_assert_num_queries(0):
            assert post(body) == 204
            assert post(body, path="/hooks/unknown/") == 404

    def test_that_does_not_answer_lets_what_was_known_go_on_for_ten_minutes(self, hook, post: Post, monkeypatch):
        assert post(notification()) == 204

        def away(digests):
            raise DatabaseError

        monkeypatch.setattr(receiving, "load_addresses", away)
        monkeypatch.setattr(receiving, "FRESH_SECONDS", 0)
        assert post(notification()) == 204
        assert post(notification(), path="/hooks/unknown/") == 503
        monkeypatch.setattr(receiving, "MAX_AGE_SECONDS", 0)
        assert post(notification()) == 503

    def test_that_is_slow_lets_no_secret_be_refused_that_is_newer_than_what_is_known(
        self, hook, post: Post, monkeypatch
    ):
        assert post(notification()) == 204
        hook.secret = "newer secret"
        hook.change(secret=hook.secret)
        newer = receiving.load_addresses([digest_token(hook.token)])

        def slow(digests):
            time.sleep(3 * receiving.WAIT_SECONDS)
            return newer

        monkeypatch.setattr(receiving, "load_addresses", slow)
        monkeypatch.setattr(receiving, "FRESH_SECONDS", 0)
        monkeypatch.delattr(receiving.addresses, "_start_thread")  # its own thread loads the address, as on the site
        assert post(notification()) == 204

    def test_that_is_away_keeps_what_waits_and_writes_it_later(self, hook, post: Post, process, monkeypatch):
        assert post(notification("h-1")) == 204

        def away(batch, unnamed):
            raise DatabaseError

        with monkeypatch.context() as patch:
            patch.setattr(message_queue, "write", away)
            with pytest.raises(DatabaseError):
                process.flush()
        process.flush()
        assert [each.history_id for each in stored(hook)] == ["h-1"]

    def test_gets_one_statement_for_all_notifications_of_a_tenant(self, hook, post: Post, process):
        for _ in range(50):
            assert post(notification()) == 204
        with CaptureQueriesContext(connection) as asked:
            process.flush()
        assert sum("INSERT INTO webhooks_notification" in each["sql"] for each in asked) == 1
        assert len(stored(hook)) == 50

    def test_hears_that_something_was_told_when_the_queue_is_full(self, hook, process, monkeypatch):
        monkeypatch.setattr(message_queue, "MAX_MESSAGES", 3)
        for number in range(5):
            process.put(ReceivedMessage(hook.tenant.pk, as_bytes(notification(f"h-{number}")), ""))
        process.flush()
        assert [each.history_id for each in stored(hook)] == ["h-2", "h-3", "h-4"]
        assert hook.row.lost_at is not None

    def test_holds_no_more_than_the_bound_of_bytes_in_memory(self, hook, process, monkeypatch):
        monkeypatch.setattr(message_queue, "MAX_BYTES", 1000)
        for _ in range(10):
            process.put(ReceivedMessage(hook.tenant.pk, b"x" * 400, ""))
        assert sum(len(each.body) for each in process._queue) == process._bytes == 800

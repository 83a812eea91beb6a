"""People and web addresses are notified of an alert once each, even when parts of the way fail."""

import hashlib
import hmac
import json
import socket
import ssl
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from accessapi import transport
from portal.domain import events
from portal.domain.alerts.models import Alert, DetectionState
from portal.domain.events import MirrorKind
from portal.domain.notifications import outbox, posting
from portal.domain.notifications.models import OutgoingMessage, WebAddress
from portal.site import env
from tenants.models import AuditEntry, Staff
from tenants.scope import tenant_scope
from tests.support.chat_server import Chat
from tests.support.log import happened, loaded, record
from tests.support.members import said
from tests.support.outbox import send_messages


@pytest.fixture
def chat(settings, tmp_path, monkeypatch):
    """Return a chat on this machine, which the operator allows."""
    settings.ALERT_NETWORKS = env.ip_network("127.0.0.0/8"), env.ip_network("::1/128")
    with Chat(tmp_path) as made:
        trusted = ssl.create_default_context(cafile=str(made.certificate))
        monkeypatch.setattr(transport, "_tls_context_of", lambda _pid: trusted)
        yield made


@pytest.fixture
def one(place, mailbox):
    with tenant_scope(place.tenant):
        DetectionState.objects.create(tenant=place.tenant, since=timezone.now() - timedelta(days=1))
    loaded(place)
    return place


@pytest.fixture
def manager(one):
    return one.client(one.owner)


def at(place, name, *more):
    return reverse(f"alerts:{name}", args=[place.tenant.slug, *more])


def happen(place, content="forced_open", device="D2", **said):
    """Publish a new record of a door; waiting messages are sent by `send`."""
    moment = timezone.now() - timedelta(minutes=1)
    about = {"category": "suspicious", "content": content, "device_id": device, "device_name": "倉庫 入口"}
    rows = happened(place, record(moment, **(about | said)))
    with tenant_scope(place.tenant):
        events.publish(MirrorKind.HISTORIES, place.tenant, histories=rows)


def send(place):
    with tenant_scope(place.tenant):
        send_messages()


def states(place):
    with tenant_scope(place.tenant):
        return list(OutgoingMessage.objects.order_by("pk").values_list("state", flat=True))


def kept(place):
    with tenant_scope(place.tenant):
        return OutgoingMessage.objects.latest("pk")


def change(place, **values):
    with tenant_scope(place.tenant):
        OutgoingMessage.objects.update(**values)


def add(place, client, url, **more):
    said = {"name": "Guards’ room", "url": url, "shape": "text", "least": "3", "language": "en"}
    return client.post(at(place, "addresses"), said | more)


class TestByMail:
    def test_whoever_takes_alerts_is_told_of_an_alarm_with_a_link_and_in_their_language(self, one, mailbox, settings):
        guard = one.staff("guard")
        guard.language = "ja"
        guard.save()
        one.staff("receptionist")
        one.staff("auditor")
        happen(one)
        send(one)
        assert mailbox.to == sorted([guard.email, one.owner.email])
        texts = {each["To"]: each for each in mailbox.mails}
        with tenant_scope(one.tenant):
            link = settings.PORTAL_URL + at(one, "alert", Alert.objects.get().pk)
        assert link in texts[one.owner.email].get_content()
        assert "倉庫 入口 has been forced open." in texts[one.owner.email].get_content()
        assert "Alarm: Door forced open" in texts[one.owner.email]["Subject"]
        assert "forced" not in texts[guard.email].get_content()

    def test_each_is_told_once_however_often_it_comes_and_the_bell_rings(self, one, mailbox):
        for _ in range(15):
            happen(one)
            send(one)
            happen(one, status="restore")
            send(one)
        assert len(mailbox.mails) == 1

    def test_whoever_left_meanwhile_is_not_told(self, one, mailbox):
        happen(one)
        with tenant_scope(one.tenant):
            Staff.objects.update(is_active=False)
        send(one)
        assert (states(one), mailbox.mails) == (["failed"], [])

    def test_a_mail_server_that_is_away_or_refuses_for_now_is_tried_again_later(self, one, mailbox, settings):
        settings.EMAIL_PORT = 1
        happen(one)
        send(one)
        assert (kept(one).state, kept(one).answer) == ("waiting", "ConnectionRefusedError")
        settings.EMAIL_PORT = mailbox.server_address[1]
        send(one)
        assert mailbox.mails == [], "not before its time"
        mailbox.refuses = "451 later"
        change(one, not_before=timezone.now())
        send(one)
        assert (kept(one).state, kept(one).answer) == ("waiting", "SMTP 451")
        mailbox.refuses = ""
        change(one, not_before=timezone.now())
        send(one)
        assert (states(one), len(mailbox.mails), kept(one).due_at) == (["sent"], 1, None)

    def test_a_refusal_for_good_is_not_tried_again(self, one, mailbox):
        mailbox.refuses = "550 nobody of this name"
        happen(one)
        send(one)
        assert (kept(one).state, kept(one).answer, kept(one).due_at) == ("failed", "SMTP 550", None)

    def test_what_may_have_arrived_is_shown_and_not_sent_again(self, one, mailbox, monkeypatch, manager):
        monkeypatch.setattr("portal.domain.notifications.mailing._SECONDS", 0.3)
        mailbox.held.set()
        happen(one)
        send(one)
        assert states(one) == ["uncertain"]
        mailbox.held.clear()
        send(one)
        assert len(mailbox.mails) == 1
        with tenant_scope(one.tenant):
            page = said(manager.get(at(one, "alert", Alert.objects.get().pk)))
        assert "Uncertain, may have been sent" in page

    def test_what_a_dead_sender_left_is_uncertain_after_its_time(self, one, mailbox):
        happen(one)
        change(one, state="sending", claimed_at=timezone.now() - timedelta(seconds=60), attempts=1)
        send(one)
        assert states(one) == ["sending"]
        change(one, claimed_at=timezone.now() - timedelta(seconds=100))
        send(one)
        assert (states(one), mailbox.mails) == (["uncertain"], [])


class TestWhoIsTold:
    def test_a_person_chooses_the_severity_and_the_hours_without_mail(self, one, mailbox):
        guard = one.staff("guard")
        client = one.client(guard)
        assert "Alarms" in said(client.get(at(one, "notify")))
        assert "Notifications saved." in said(client.post(at(one, "notify"), {"least": "0"}, follow=True))
        happen(one)
        send(one)
        assert mailbox.to == [one.owner.email]
        always = {"least": "1", "days": [str(day) for day in range(7)], "begin": "00:00", "end": "23:59"}
        assert "Notifications saved." in said(client.post(at(one, "notify"), always, follow=True))
        happen(one, device="D3")
        send(one)
        assert mailbox.to == [one.owner.email] * 2
        client.post(at(one, "notify"), {"least": "2"})
        happen(one, content="Odd", device="D4")
        send(one)
        assert mailbox.to.count(guard.email) == 1

    def test_a_tenant_chooses_the_roles_and_people_of_a_rule(self, one, mailbox, manager):
        guard, other = one.staff("guard"), one.staff("facility manager")
        chosen = {"roles": ["guard"], "people": [str(other.pk)]}
        assert "Recipients saved." in said(one.client().post(at(one, "recipients", "forced"), chosen, follow=True))
        happen(one)
        send(one)
        assert mailbox.to == sorted([guard.email, other.email])
        assert "Recipients saved." in said(manager.post(at(one, "recipients", "forced"), {}, follow=True))
        happen(one, device="D3")
        send(one)
        assert len(mailbox.mails) == 5

    def test_nobody_from_elsewhere_can_be_chosen(self, one, manager):
        answer = manager.post(at(one, "recipients", "forced"), {"people": ["999999"]}, follow=True)
        assert "Recipients not saved." in said(answer)


class TestAWebAddress:
    def test_is_told_signed_with_the_secret_that_was_shown_once(self, one, chat, manager):
        page = add(one, manager, chat.url()).content.decode()
        with tenant_scope(one.tenant):
            secret = WebAddress.objects.get().secret
        assert secret in page
        shown = manager.get(at(one, "addresses")).content.decode()
        assert "https://localhost/…1234" in shown
        assert secret not in shown
        assert "geheim" not in shown
        happen(one)
        send(one)
        (post,) = chat.posts
        told = dict(each.split("=") for each in post.headers["X-Alert-Signature"].split(","))
        assert told["v1"] == hmac.new(secret.encode(), f"{told['t']}.".encode() + post.body, hashlib.sha256).hexdigest()
        assert post.headers["Host"] == f"localhost:{chat.port}"
        assert "倉庫 入口 has been forced open." in json.loads(post.body)["text"]
        with tenant_scope(one.tenant):
            entry = AuditEntry.objects.get(action="alert_address.add")
        assert entry.after["url"] == "https://localhost/…1234"

    def test_is_told_from_its_severity_on(self, one, chat, manager):
        add(one, manager, chat.url(), least="3")
        happen(one, content="Odd", device="D4")
        send(one)
        assert chat.posts == []

    def test_is_given_up_after_the_last_pause(self, one, chat, manager):
        add(one, manager, chat.url())
        happen(one)
        tries = len(outbox.RETRY_PAUSES) + 1
        chat.answers = [(503, {}, b"")] * (tries + 1)
        for _try in range(tries + 1):
            change(one, not_before=timezone.now())
            send(one)
        assert len(chat.posts) == tries
        with tenant_scope(one.tenant):
            assert OutgoingMessage.objects.exclude(address=None).get().state == "failed"

    def test_shows_nobodys_name(self, one, chat, manager):
        add(one, manager, chat.url(), least="1", shape="card")
        for _ in range(5):
            happen(one, category="warning", content="Refused", member_id="m-7", member_name="佐藤 花子")
        send(one)
        body = json.loads(chat.posts[0].body)["attachments"][0]["content"]["body"][0]["text"]
        assert "A person: refused 5 times" in body
        assert "佐藤" not in body

    def test_is_written_to_line_works_in_its_own_form(self, one, chat, manager):
        add(one, manager, chat.url(), shape="line_works")
        happen(one)
        send(one)
        body = json.loads(chat.posts[0].body)
        assert body["title"] == one.tenant.name
        assert "倉庫 入口 has been forced open." in body["body"]["text"]

    def test_is_tried_again_after_a_failure_and_not_after_a_refusal(self, one, chat, manager):
        add(one, manager, chat.url())
        chat.answers = [(503, {}, b""), (429, {}, b""), (404, {}, b"")]
        happen(one)
        for state, answer in (("waiting", "HTTP 503"), ("waiting", "HTTP 429"), ("failed", "HTTP 404")):
            change(one, not_before=timezone.now())
            send(one)
            with tenant_scope(one.tenant):
                row = OutgoingMessage.objects.exclude(address=None).get()
            assert (row.state, row.answer) == (state, answer)
        send(one)
        assert len(chat.posts) == 3

    def test_a_test_is_sent_and_its_answer_shown_and_a_new_secret_signs(self, one, chat, manager):
        add(one, manager, chat.url())
        with tenant_scope(one.tenant):
            row = WebAddress.objects.get()
        manager.post(at(one, "address_try", row.pk))
        send(one)
        assert "Test from" in json.loads(chat.posts[0].body)["text"]
        page = said(manager.get(at(one, "address", row.pk)))
        assert "HTTP 200" in page
        assert row.secret not in manager.post(at(one, "address_renew", row.pk)).content.decode()
        assert "Web address removed." in said(one.client().post(at(one, "address_remove", row.pk), follow=True))

    def test_is_tested_five_times_in_ten_minutes_however_many_there_are(self, one, chat, manager):
        for name in ("One", "Two"):
            add(one, manager, chat.url(), name=name)
        with tenant_scope(one.tenant):
            rows = list(WebAddress.objects.values_list("pk", flat=True))
        pages = [said(manager.post(at(one, "address_try", rows[n % 2]), follow=True)) for n in range(6)]
        assert ["Test requested." in page for page in pages] == [True] * 5 + [False]
        assert "Test not sent. The limit is 5 tests in 10 minutes." in pages[5]
        send(one)
        assert len(chat.posts) == 5

    @pytest.mark.parametrize(
        "url", ["http://chat.example.test/x", "https://u:p@chat.example.test/", "ftp://x", "https://"]
    )
    def test_is_https_without_a_user(self, one, manager, url):
        assert "Enter an address that begins with https://" in said(add(one, manager, url))

    def test_is_the_managers_affair(self, one):
        guard = one.client(one.staff("guard"))
        assert guard.get(at(one, "addresses")).status_code == 403


class TestNoWayInto:
    @pytest.mark.parametrize("port", [22, 80, 8443])
    def test_another_port_than_that_of_https(self, one, manager, settings, port):
        settings.ALERT_NETWORKS = ()
        assert not posting.may_reach("8.8.8.8", port)
        assert "Alerts go to port 443 only" in said(add(one, manager, f"https://chat.example.test:{port}/x"))
        with tenant_scope(one.tenant):
            assert not WebAddress.objects.exists()

    def test_another_port_of_a_public_address_beside_a_network_that_is_allowed(self, one, chat, manager, monkeypatch):
        found, resolve = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("198.41.0.4", chat.port))], socket.getaddrinfo
        add(one, manager, chat.url("chat.example.test"))
        happen(one)

        def public(host, *more, **named):
            return found if host == "chat.example.test" else resolve(host, *more, **named)

        monkeypatch.setattr(socket, "getaddrinfo", public)
        send(one)
        assert self.answer(one) == ("failed", "network refused")

    @pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "0x7f.1", "017700000001", "[::1]", "[::ffff:7f00:1]"])
    def test_a_number_in_any_spelling_is_refused_in_the_form(self, one, manager, host):
        assert "Address in a private network: not allowed. Ask the operator of the portal." in said(
            add(one, manager, f"https://{host}/x")
        )

    def test_a_name_that_leads_there(self, one, chat, manager, settings):
        add(one, manager, chat.url())
        settings.ALERT_NETWORKS = ()
        happen(one)
        send(one)
        assert chat.posts == []
        assert self.answer(one) == ("failed", "network refused")

    def test_a_redirect(self, one, chat, manager):
        add(one, manager, chat.url())
        chat.answers = [(302, {"Location": chat.url(path="/inside")}, b"")]
        happen(one)
        send(one)
        assert [each.path for each in chat.posts] == ["/hook/geheim1234"]
        assert self.answer(one) == ("failed", "HTTP 302")

    def test_a_name_that_resolves_anew_after_it_was_checked(self, one, chat, manager, settings, monkeypatch):
        """Check that the connection uses the checked address: later lookups of the name return this machine."""
        asked, tried = [], []
        resolve, connect = socket.getaddrinfo, socket.create_connection

        def anew(host, port, *more, **named):
            if host != "chat.example.test":
                return resolve(host, port, *more, **named)
            asked.append(host)
            ip = "198.41.0.4" if len(asked) == 1 else "127.0.0.1"
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port))]

        def noted(address, *more, **named):
            if address[1] != chat.port:
                return connect(address, *more, **named)
            tried.append(address[0])
            raise ConnectionRefusedError

        add(one, manager, chat.url("chat.example.test"))
        settings.ALERT_NETWORKS = ()
        monkeypatch.setattr(posting, "HTTPS_PORT", chat.port)
        happen(one)
        monkeypatch.setattr(socket, "getaddrinfo", anew)
        monkeypatch.setattr(socket, "create_connection", noted)
        send(one)
        assert (tried, asked, chat.posts) == (["198.41.0.4"], ["chat.example.test"], [])
        change(one, not_before=timezone.now())
        send(one)
        assert (tried, self.answer(one)) == (["198.41.0.4"], ("failed", "network refused"))

    def test_an_answer_without_end_is_not_read(self, one, chat, manager):
        add(one, manager, chat.url())
        chat.answers = [(200, {}, b"x" * 1_000_000)]
        happen(one)
        send(one)
        assert self.answer(one) == ("sent", "HTTP 200")

    def answer(self, place):
        with tenant_scope(place.tenant):
            row = OutgoingMessage.objects.exclude(address=None).get()
        return row.state, row.answer

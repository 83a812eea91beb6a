"""Account emails: stored with the action, sent by a worker once, and then deleted from the database."""

from datetime import timedelta
from threading import Thread

import pytest
from django.db import connection, transaction
from django.template import TemplateDoesNotExist

from portal.base.timers.clock import ClockTime
from portal.domain.notifications import account_mails
from tenants import mails
from tenants.models import AccountMail

LINK = "https://portal.example.test/accounts/password/reset/key/1-secret/"


@pytest.fixture
def person(two):
    return two.owner_a


def reset(person):
    mails.queue(to=person, kind=mails.RESET_LINK, values={"address": LINK})


def later():
    """Make the next try due."""
    AccountMail.objects.update(due_at=ClockTime())


def test_a_mail_is_sent_once_and_then_forgotten(person, mailbox):
    reset(person)
    account_mails.send_due()
    account_mails.send_due()
    assert mailbox.to == [person.email]
    assert LINK in mailbox.mails[0].get_content()
    assert not AccountMail.objects.exists()


def test_its_link_rests_sealed(person):
    reset(person)
    with connection.cursor() as cursor:
        cursor.execute('SELECT "values" FROM tenants_accountmail')
        assert b"secret" not in bytes(cursor.fetchone()[0])
    assert AccountMail.objects.get().values == {"address": LINK}


def test_an_act_that_is_undone_sends_nothing(person, mailbox):
    with transaction.atomic():
        reset(person)
        transaction.set_rollback(True)
    account_mails.send_due()
    assert mailbox.visits == 0


def test_a_kind_without_a_text_fails_with_the_act(person):
    with pytest.raises(TemplateDoesNotExist):
        mails.queue(to=person, kind="nothing", values={})


def test_a_mail_server_that_is_away_is_tried_again_and_at_last_given_up(person, mailbox, settings, caplog):
    working, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    reset(person)
    account_mails.send_due()
    account_mails.send_due()
    assert AccountMail.objects.get().attempts == 1, "the next try waits for its pause"
    later()
    settings.EMAIL_PORT = working
    account_mails.send_due()
    assert mailbox.to == [person.email]
    settings.EMAIL_PORT = 1
    reset(person)
    for _try in range(len(account_mails.RETRY_PAUSES) + 1):
        account_mails.send_due()
        later()
    assert not AccountMail.objects.exists()
    assert "account_mail_not_sent" in caplog.text
    assert "secret" not in caplog.text + person.email


def test_what_a_mail_server_refuses_for_good_is_not_tried_again(person, mailbox):
    mailbox.refuses = "550 no such mailbox"
    reset(person)
    account_mails.send_due()
    assert (mailbox.visits, AccountMail.objects.count()) == (1, 0)


def test_whoever_was_switched_off_meanwhile_gets_none(person, mailbox):
    reset(person)
    person.is_active = False
    person.save()
    account_mails.send_due()
    assert (mailbox.visits, AccountMail.objects.count()) == (0, 0)


def test_a_reset_link_whose_sender_died_is_sent_again_and_not_for_ever(person, mailbox):
    reset(person)
    AccountMail.objects.update(claimed_at=ClockTime() - timedelta(minutes=2))
    account_mails.send_due()
    assert len(mailbox.mails) == 1
    reset(person)
    AccountMail.objects.update(claimed_at=ClockTime(), attempts=len(account_mails.RETRY_PAUSES) + 1)
    account_mails.send_due()
    assert (len(mailbox.mails), AccountMail.objects.count()) == (1, 0)


def test_a_notification_whose_sender_died_is_not_sent_again(person, mailbox, monkeypatch):
    monkeypatch.setattr(mails, "RESENDABLE_KINDS", frozenset())
    reset(person)
    AccountMail.objects.update(claimed_at=ClockTime() - timedelta(minutes=2))
    account_mails.send_due()
    assert (mailbox.visits, AccountMail.objects.count()) == (0, 0)


@pytest.mark.django_db(transaction=True)
def test_two_workers_never_send_the_same_one(make_two, mailbox):
    reset(make_two().owner_a)
    mailbox.held.set()

    def work():
        try:
            account_mails.send_due()
        finally:
            connection.close()

    first = Thread(target=work)
    first.start()
    while not mailbox.mails:
        pass
    work()
    mailbox.held.clear()
    first.join()
    assert len(mailbox.mails) == 1
    assert not AccountMail.objects.exists()

"""A tenant with its webhook, and a process that writes only when the test flushes it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from portal.webhooks import receiving
from portal.webhooks.message_queue import MessageQueue
from portal.webhooks.receiving import AddressCache
from tests.support.hooks import Hook, as_bytes
from tests.support.places import Place


@pytest.fixture(autouse=True)
def process(monkeypatch: pytest.MonkeyPatch) -> MessageQueue:
    """Return the queue of a process that has just started; nothing is written before `flush()`."""
    intake, known = MessageQueue(), AddressCache()
    monkeypatch.setattr(intake, "_start_writer", lambda: None)
    monkeypatch.setattr(known, "_start_thread", lambda: None)
    monkeypatch.setattr(receiving, "queue", intake)
    monkeypatch.setattr(receiving, "addresses", known)
    monkeypatch.setattr(receiving, "FRESH_SECONDS", 60)  # other threads cannot see data in the test's transaction
    return intake


@pytest.fixture
def hook(place: Place) -> Hook:
    return Hook(place.tenant)


Post = Callable[..., int]


@pytest.fixture
def post(hook: Hook, client: Client) -> Post:
    """Return `post(body, …)`, which sends a notification signed by the service and returns the status of the answer."""

    def send(body: Any, *, path: str = "", headers: dict[str, str] | None = None, by: Hook = hook) -> int:
        raw = as_bytes(body)
        given = by.headers(raw) if headers is None else headers
        given = {name: value for name, value in given.items() if name != "Content-Type"}
        return client.post(path or by.path, raw, content_type="application/json", headers=given).status_code

    return send

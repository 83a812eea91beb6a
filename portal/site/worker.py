"""How our workers differ from Celery's: only in how they take a broker that is away."""

from functools import partial
from typing import Any

from celery.worker.consumer import Consumer
from celery.worker.request import Request
from kombu.transport.virtual import QoS


class PatientConsumer(Consumer):  # type: ignore[misc]  # Celery has no types
    """Knocks every few seconds, for ever. Celery's own pauses grow to half a minute: as long, work would wait after the
    broker's return.
    """

    def ensure_connected(self, conn: Any) -> Any:
        conn.ensure_connection = partial(conn.ensure_connection, interval_start=0.5, interval_step=0.5, interval_max=3)
        return super().ensure_connected(conn)


class PatientRequest(Request):  # type: ignore[misc]  # Celery has no types
    """Gives its place back also when the broker could not be told that a message is done.

    Celery logs that and counts the message as in work for ever: after as many as a worker may hold it takes none any
    more, alive and idle. The broker delivers such a message again, which is harmless: its row decides.
    """

    def acknowledge(self) -> None:
        done = self.acknowledged
        super().acknowledge()
        qos, tag = self.message.channel.qos, self.message.delivery_tag
        if not done and tag in qos._delivered and tag not in qos._dirty:
            QoS.ack(qos, tag)  # type: ignore[no-untyped-call]  # nor has Kombu

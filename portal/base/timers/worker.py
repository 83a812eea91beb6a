"""Adapt Celery's workers to a broker that is not available."""

from functools import partial
from typing import Any

from celery.worker.consumer import Consumer
from celery.worker.request import Request
from kombu.transport.virtual import QoS


class PatientConsumer(Consumer):  # type: ignore[misc]  # Celery has no types
    """A consumer that reconnects every few seconds, without end.

    Celery's own pauses grow to half a minute, and work would wait that long after the broker is back.
    """

    def ensure_connected(self, conn: Any) -> Any:
        conn.ensure_connection = partial(conn.ensure_connection, interval_start=0.5, interval_step=0.5, interval_max=3)
        return super().ensure_connected(conn)


class PatientRequest(Request):  # type: ignore[misc]  # Celery has no types
    """A request that frees its place even if the broker could not be notified of a finished message.

    Celery only logs this error and counts the message as unfinished forever, until the worker takes no messages any
    more. The broker delivers such a message again. That is harmless, because the row decides.
    """

    def acknowledge(self) -> None:
        done = self.acknowledged
        super().acknowledge()
        qos, tag = self.message.channel.qos, self.message.delivery_tag
        if not done and tag in qos._delivered and tag not in qos._dirty:
            QoS.ack(qos, tag)  # type: ignore[no-untyped-call]  # Kombu has no types

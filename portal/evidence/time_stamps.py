"""Time stamps of an authority (RFC 3161), if one is configured. They prove that a manifest existed at that time."""

import httpx2
import structlog
from django.conf import settings
from rfc3161_client import HashAlgorithm, PKIStatus, TimestampRequestBuilder, decode_timestamp_response

from accessapi.errors import ServiceError
from accessapi.transport import ConnectionPool, ServiceTransport

log = structlog.get_logger(__name__)
# Limits of the whole answer, even if it is slow; a time stamp with all certificates has about 6 KB.
_ANSWER_SECONDS, _ANSWER_MAX = 15.0, 256 * 1024
_HEADERS = {
    "Content-Type": "application/timestamp-query",
    "Accept": "application/timestamp-reply",
    "Accept-Encoding": "identity",
}


class NotStamped(Exception):
    """The error if the authority returns no usable time stamp."""


def has_stamp_authority() -> bool:
    return bool(settings.TIME_STAMP_URL)


def request_stamp(message: bytes) -> bytes:
    """Return the authority's answer for a message, as DER for `openssl ts -verify`. Raises NotStamped."""
    asked = TimestampRequestBuilder().data(message).hash_algorithm(HashAlgorithm.SHA256).build()
    try:
        answer = _post(asked.as_bytes())
        told = decode_timestamp_response(answer)
        granted = told.status in (PKIStatus.GRANTED, PKIStatus.GRANTED_WITH_MODS)
        if not granted or told.tst_info.nonce != asked.nonce:
            raise NotStamped
        if told.tst_info.message_imprint.message != asked.message_imprint.message:
            raise NotStamped
    except (ServiceError, httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        log.warning("evidence_not_stamped", error=type(error).__name__)
        raise NotStamped from None
    return answer


def _post(asked: bytes) -> bytes:
    """Return the authority's answer, limited in size and time and without redirects. Raises NotStamped."""
    pool = ConnectionPool(max_idle=0)
    try:
        wire = ServiceTransport(
            pool, read_seconds=_ANSWER_SECONDS, answer_seconds=_ANSWER_SECONDS, answer_max=_ANSWER_MAX
        )
        answer = wire.handle_request(httpx2.Request("POST", settings.TIME_STAMP_URL, headers=_HEADERS, content=asked))
    finally:
        pool.close()
    if answer.status_code != 200:
        log.warning("evidence_not_stamped", status=answer.status_code)
        raise NotStamped
    return answer.content

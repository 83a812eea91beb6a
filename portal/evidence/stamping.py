"""Time stamps of an authority (RFC 3161), if one is configured: they prove that a manifest existed at that time."""

import httpx2
import structlog
from django.conf import settings
from rfc3161_client import HashAlgorithm, PKIStatus, TimestampRequestBuilder, decode_timestamp_response

from accessapi.wire import tls

log = structlog.get_logger(__name__)
_SECONDS, _LARGEST = 15, 256 * 1024
_TYPES = {"Content-Type": "application/timestamp-query", "Accept": "application/timestamp-reply"}


class NotStamped(Exception):
    """The authority gave no usable time stamp."""


def is_configured() -> bool:
    return bool(settings.TIME_STAMP_URL)


def stamp(message: bytes) -> bytes:
    """Return the authority's answer for a message, DER as `openssl ts -verify` reads it. Raises NotStamped."""
    asked = TimestampRequestBuilder().data(message).hash_algorithm(HashAlgorithm.SHA256).build()
    try:
        with httpx2.Client(timeout=_SECONDS, trust_env=False, verify=tls()) as client:
            answer = client.post(settings.TIME_STAMP_URL, content=asked.as_bytes(), headers=_TYPES)
        answer.raise_for_status()
        told = decode_timestamp_response(answer.content[:_LARGEST])
        granted = told.status in (PKIStatus.GRANTED, PKIStatus.GRANTED_WITH_MODS)
        if not granted or told.tst_info.nonce != asked.nonce:
            raise NotStamped
        if told.tst_info.message_imprint.message != asked.message_imprint.message:
            raise NotStamped
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        log.warning("evidence_not_stamped", error=type(error).__name__)
        raise NotStamped from None
    return answer.content

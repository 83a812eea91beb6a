"""Turn a response's status, headers and bytes into values or an error. Nothing here uses the network."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from accessapi.errors import ServiceError, UnreadableAnswer, error_for_status
from accessapi.limits import JSON_DEPTH_MAX
from accessapi.operations import Operation
from accessapi.resources import registry
from accessapi.resources.received import ReceivedPage, read_page

_SURROGATE = re.compile("[\ud800-\udfff\x00]")
# JSON escapes of such characters. Searched first, so that a service that escapes all Japanese does not cost a full walk
# of every page.
_SUSPICIOUS_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_TEXT_MAX = 2000
_CHARSET = re.compile(r"""charset=["']?([\w.:-]{1,40})""", re.IGNORECASE)
# Digits of a whole number: longer ones are beyond the range of PostgreSQL and browsers.
_MAX_DIGITS = 18


@dataclass(frozen=True, slots=True)
class RateHeaders:
    """X-Rate-Limit-Limit, -Remaining and -Reset (seconds); None for one that is missing or not a usable number."""

    limit: int | None = None
    remaining: int | None = None
    reset: int | None = None

    @classmethod
    def read(cls, headers: Mapping[str, str]) -> RateHeaders:
        return cls(*(_read_count(headers.get(f"X-Rate-Limit-{name}")) for name in ("Limit", "Remaining", "Reset")))


def _read_count(text: str | None) -> int | None:
    if text is None or not re.fullmatch(r"[0-9]{1,9}", text.strip(), re.ASCII):
        return None
    return int(text)


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful answer: `data` as received.

    `value` is a resource, a `ReceivedPage` of them, or None if the specification shows no body.
    """

    status: int
    rate: RateHeaders
    data: dict[str, Any] = field(repr=False)
    value: Any = field(repr=False, default=None)

    @property
    def cursor(self) -> str | None:
        """Return the last_evaluated_key of a list that has more pages, else None."""
        return self.value.cursor if isinstance(self.value, ReceivedPage) else None


def read_json(content: bytes | str) -> Any:
    """Return JSON from outside as plain values: an answer of the service, a webhook's body, a browser's POST.

    Bytes are UTF-8. Raises ValueError for anything that is not JSON or is nested more deeply than JSON_DEPTH_MAX.
    Values that pages and databases cannot hold cause no error: NUL and lone surrogates become U+FFFD, NaN and too large
    numbers stay text.
    """
    text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
    try:
        value = json.loads(text, parse_constant=str, parse_float=_read_float, parse_int=_read_integer)
    except RecursionError:
        value = None
    else:
        if not _is_deep(value):
            return _replace_surrogates(value) if _SUSPICIOUS_ESCAPE.search(text) else value
    raise ValueError("JSON is nested too deeply")


def _decode(headers: Mapping[str, str], content: bytes) -> str:
    """Return the body of an answer as text, in its declared encoding; UTF-8 without one, or with an unknown one.

    If a byte of a character is missing, only that character becomes U+FFFD, and the list stays readable.
    """
    named = _CHARSET.search(headers.get("Content-Type", ""))
    with suppress(LookupError, UnicodeDecodeError):
        return content.decode(named[1] if named else json.detect_encoding(content))
    return content.decode("utf-8-sig", errors="replace")


def _is_deep(value: Any) -> bool:
    """Return whether objects and arrays are nested so deeply that code that walks them could fail."""
    level = [value]
    for _ in range(JSON_DEPTH_MAX + 1):
        parts = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, (dict, list)))
        level = [each for part in parts for each in part if isinstance(each, (dict, list))]
        if not level:
            return False
    return True


def _read_integer(text: str) -> int | str:
    return int(text) if len(text) <= _MAX_DIGITS else text


def _read_float(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text


def _replace_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("�", value) if _SURROGATE.search(value) else value
    if isinstance(value, list):
        return [_replace_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_replace_surrogates(key): _replace_surrogates(item) for key, item in value.items()}
    return value


def read_error(status: int, headers: Mapping[str, str], content: bytes) -> ServiceError:
    """Return the error for a status outside 2xx, with code and detail if the body has the specified shape.

    Specification: part "Errors", { message, error_code, error_detail }.
    """
    try:
        body = read_json(_decode(headers, content))
    except ValueError:
        body = None
    fields = body if isinstance(body, dict) else {}
    code, detail, message = (_short_text(fields.get(key)) for key in ("error_code", "error_detail", "message"))
    retry_after = RateHeaders.read(headers).reset
    return error_for_status(status, code=code, detail=detail, message=message, retry_after=retry_after)


def _short_text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    return str(value)[:_TEXT_MAX] if isinstance(value, str) or abs(value) < 10**12 else ""


def read_answer(operation: Operation, status: int, headers: Mapping[str, str], content: bytes) -> Answer:
    """Return the answer of a 2xx.

    Raises `UnreadableAnswer` if it cannot be used at all: not JSON, not an object, no identifier.
    """
    rate = RateHeaders.read(headers)
    model = registry.ANSWERS.get(operation.name)
    if model is None:
        return Answer(status, rate, _read_optional_object(_decode(headers, content)))
    failure = ""
    try:
        data = read_json(_decode(headers, content))
        if operation.list_key is not None:
            data = _rename_fields(operation, data)
            page = read_page(data, operation.list_key, model)
            return Answer(
                status, rate, {**(data if isinstance(data, dict) else {}), operation.list_key: page.rows}, page
            )
        if isinstance(data, dict):
            return Answer(status, rate, data, model.model_validate(data))
        failure = "the answer is not a JSON object"
    except ValidationError:
        failure = "the answer lacks what identifies it"
    except ValueError as error:
        failure = str(error) if "nested" in str(error) else "the answer is not what the specification says"
    raise UnreadableAnswer(failure, status)


def _rename_fields(operation: Operation, data: Any) -> Any:
    """Return the list with the fields of its items under the names that the specification uses elsewhere."""
    if not operation.list_names:
        return data
    rows, names = data.get(operation.list_key) if isinstance(data, dict) else data, dict(operation.list_names)
    if isinstance(rows, dict):
        rows = [rows]
    if not isinstance(rows, list):
        return data
    rows = [{names.get(name, name): row[name] for name in row} if isinstance(row, dict) else row for row in rows]
    return {**data, operation.list_key: rows} if isinstance(data, dict) else rows


def _read_optional_object(content: str) -> dict[str, Any]:
    # Deletions and the webhook update: no body is shown, so any is accepted.
    try:
        data = read_json(content)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}

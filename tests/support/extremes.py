"""Values from outside that often break programs: times, numbers, identifiers, texts and shapes."""

import json
from typing import Any

from tests.support.effort import SOAK

MOMENTS = (
    "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59+09:00", "10000-01-01T00:00:00Z",
    "294276-01-01T00:00:00Z", "-0001-01-01T00:00:00Z", "2026-11-23T10:00:00+23:59", "2026-11-23T10:00:00+16:00",
    "2026-02-30T10:00:00Z", "2026-11-23T24:00:00Z", "2026-11-23", "infinity", "-infinity", "9998-12-31T23:59:59+09:00",
    "1900-01-01T00:00:00+09:00",
)  # fmt: skip
NUMBERS = (
    "0", "-1", "1.5", str(2**31), str(-(2**31) - 1), str(2**63), str(10**30), "9" * 5_000, "1e308", "1e999", "-0.0",
)  # fmt: skip
TEXTS = (
    "", "a\x00b", "\x00", "\ud83d", "\udc00\ud800", "x" * 5_000, "界" * 900, "界" * 300, "\u202e", "\r\n", "<script>",
    "%s%(a)s", "{}", "null", "e\u0301" * 500, "\ufdfa" * 400,
)  # fmt: skip


def nested(depth: int, inner: str = "1") -> str:
    """Return so many arrays within each other, as text of JSON."""
    return "[" * depth + inner + "]" * depth


SHAPES = (
    *("null", "true", "false", "[]", "{}", "[null]", "[[[]]]", '{"a": {"b": {}}}', '{"": ""}', '{"a": 1, "a": 2}'),
    *('["x", 1, {}]', nested(20), '{"\\u0000": "\\ud83d"}', '[{"id": []}]'),
)
# Whole bodies that are not JSON, or are larger than any sensible body.
BODIES = (
    *(b"", b"nonsense", b"\xff\xfe", b"[", b"{", b'{"a": ', b"NaN", b"[Infinity]", b"[-Infinity]"),
    *(b'{"a": NaN}', b"\x00", b'{"a": Infinity}'),
    *(nested(depth).encode() for depth in (63, 66, 200, 900, 10_000)),
    *(b'{"a":' * depth + b"1" + b"}" * depth for depth in (63, 66, 200, 900, 10_000)),
    *(b'"x"', b"5", b"null", b"true", b"[1, 2]", b"{}", b"9" * 5_000, b"-" + b"9" * 5_000, b"1e999", b"\xef\xbb\xbf{}"),
)


#: All values, as texts of JSON.
VALUES = (*map(json.dumps, MOMENTS), *NUMBERS, *map(json.dumps, TEXTS), *map(json.dumps, NUMBERS[3:8]), *SHAPES)


#: All values in a soak; otherwise some of each kind, and those that once broke something.
SOME = VALUES if SOAK else (
    *(json.dumps(each) for each in (*MOMENTS[:3], TEXTS[1], TEXTS[3], TEXTS[5], TEXTS[6], TEXTS[-1])),
    *NUMBERS[3:9], *SHAPES[:4], nested(20),
)  # fmt: skip


def objects(sound: dict[str, Any], fields: tuple[str, ...], values: tuple[str, ...] = SOME) -> list[str]:
    """Return the object once for each field and value, with that value in the field, as texts of JSON."""
    found = []
    for field in fields:
        rest = ", ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sound.items() if name != field)
        found += [f"{{{json.dumps(field)}: {value}{', ' if rest else ''}{rest}}}" for value in values]
    return found


NASTY = (
    "", " ", "0", "-1", "1", "99999999999999999999", "1e309", "NaN", "null", "true", "[]", "{}", "%00", "a\x00b",
    "\ud83d", "' OR 1=1 --", "<script>alert(1)</script>", "../../etc/passwd", "..%2f..%2f", "a" * 41, "あ" * 41,
    "x" * 70_000, "\u202e", "𠮷" * 20, "2026-13-45T99:99:99", "=cmd|' /C calc'!A0", "\r\nSet-Cookie: x=1", "%E3%81",
    "e\u0301" * 20, "name", "-name", "unlock", "desc", "+09:00", ";", "|", "\t",
    "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "9999-12-31", "0001-01",
)  # fmt: skip

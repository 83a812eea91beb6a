"""Identify a tenant at a glance: its colour and its initials."""

import re
import zlib
from dataclasses import dataclass
from typing import Any

#: The named colours of tenants. White text on each has a contrast of at least 4.5:1.
COLOURS = {
    "blue": "#1f5fa8",
    "teal": "#0f6b66",
    "green": "#356b2e",
    "orange": "#a8480f",
    "red": "#a62a2a",
    "pink": "#a3296a",
    "purple": "#6f3a96",
    "indigo": "#4245a0",
    "cyan": "#10667f",
    "yellow": "#7a5a06",
}
_HEX = re.compile(r"#[0-9a-fA-F]{6}\Z")


@dataclass(frozen=True, slots=True)
class TenantIdentity:
    """A tenant's `colour` (`#rrggbb`), `text_colour` (black or white) and up to two `initials`."""

    name: str
    colour: str
    text_colour: str
    initials: str

    @classmethod
    def of(cls, tenant: Any) -> "TenantIdentity":
        name = str(getattr(tenant, "name", "") or getattr(tenant, "slug", "") or "?")
        own = str(getattr(tenant, "colour", "") or "")
        colour = COLOURS.get(own) or (own if _HEX.match(own) else _by_slug(str(getattr(tenant, "slug", name))))
        return cls(name, colour, text_colour_on(colour), initials(name))


def _by_slug(slug: str) -> str:
    return list(COLOURS.values())[zlib.crc32(slug.encode()) % len(COLOURS)]


def initials(name: str) -> str:
    """Return up to two initials: `Aozora Building` -> AB; `青空ビル` -> 青空. Ignore company forms such as 株式会社."""
    core = re.sub(r"株式会社|有限会社|合同会社|\(株\)|（株）", "", name).strip() or name.strip() or "?"
    words = re.findall(r"\w+", core)
    if core[0].isascii():
        letters = [word[0] for word in words[:2]] if len(words) > 1 else [core[:2]]
        return "".join(letters).upper()[:2]
    return core[:2]


def text_colour_on(colour: str) -> str:
    """Return white or near-black, the one with more contrast on `colour` (`#rrggbb`), by WCAG's luminance."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.055 else "#16181b"

"""Browsers in words, for the list of places where somebody is signed in."""

import re

_BROWSERS = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("FxiOS", "Firefox"), ("CriOS", "Chrome"))
_LAST = (("Chrome", "Chrome"), ("Version", "Safari"))
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def browser(user_agent: str) -> str:
    """`Firefox 140, Windows` of a browser's User-Agent; what is not recognised comes back as it is, cut short."""
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    for mark, name in _BROWSERS + _LAST:
        if found := re.search(rf"{mark}\w*/(\d+)", user_agent):
            return ", ".join(filter(None, (f"{name} {found[1]}", system)))
    return user_agent[:60]

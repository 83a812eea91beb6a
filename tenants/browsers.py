"""Browser names for people, from a request's User-Agent."""

import re

# Marks in a browser's User-Agent. Most browsers also claim to be Chrome or Safari, so these come last.
_BROWSER_NAMES = {
    "Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "FxiOS": "Firefox", "CriOS": "Chrome",
    "Chrome": "Chrome", "Version": "Safari",
}  # fmt: skip
_SYSTEMS = {
    "iPhone": "iPhone", "iPad": "iPad", "Android": "Android", "CrOS": "ChromeOS", "Windows": "Windows",
    "Mac OS X": "macOS", "Linux": "Linux",
}  # fmt: skip


def describe_browser(user_agent: str) -> str:
    """Return "Firefox 140, Windows"; for an unknown browser, the first 60 characters as sent."""
    system = next((name for mark, name in _SYSTEMS.items() if mark in user_agent), "")
    for mark, name in _BROWSER_NAMES.items():
        if version := re.search(rf"{mark}\w*/(\d{{1,6}})", user_agent):
            return ", ".join(filter(None, (f"{name} {version[1]}", system)))
    return user_agent[:60]

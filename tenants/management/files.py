"""Files with secrets or tables that commands read."""

from __future__ import annotations

import sys
from pathlib import Path

from django.core.management.base import CommandError


def read_text(file: str, option: str) -> str:
    """Return the file's text; "-" is standard input. Raises CommandError with the option's name if reading fails."""
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise CommandError(f"{option} {file} cannot be read: {reason}. Nothing was changed.") from error


def read_line(file: str, option: str) -> str:
    """Return the file's only line, without its end. Raises CommandError if there is none, or more than one."""
    text = read_text(file, option).strip("\r\n")
    if not text.strip() or "\n" in text or "\x00" in text:
        raise CommandError(f"{option} {file} must hold exactly one line. Nothing was changed.")
    return text

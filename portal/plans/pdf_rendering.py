"""Render the first page of a PDF as a picture, in a separate process with limited memory and time.

A small PDF can need gigabytes of memory. Then only the separate process is killed, and the site continues.
"""

import subprocess
import sys

from portal.base.files.pictures import DRAWING_SIDE

# Limits of the process: megabytes of address space, and seconds of processor time.
MAX_MEGABYTES, MAX_SECONDS = 768, 10


class PdfNotRendered(ValueError):
    """Raised when the page cannot be drawn: the file is not a PDF, is damaged or locked, or exceeds the limits."""


def render_first_page(data: bytes) -> bytes:
    """Return the first page of a PDF as PNG, its longest side DRAWING_SIDE pixels. Raises PdfNotRendered."""
    command = [
        sys.executable,
        "-m",
        "portal.plans.drawing_process",
        *map(str, (DRAWING_SIDE, MAX_MEGABYTES, MAX_SECONDS)),
    ]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=2 * MAX_SECONDS, check=True)
    except (subprocess.SubprocessError, OSError) as error:
        raise PdfNotRendered("the page could not be drawn") from error
    return done.stdout

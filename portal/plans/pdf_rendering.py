"""The first page of a PDF as a picture, drawn in a process of its own that may use little memory and time.

A PDF of some kilobytes can ask for gigabytes; whoever draws it is ended by the system then, and the site goes on.
"""

import subprocess
import sys

from portal.core.files.pictures import DRAWING_SIDE

# What the process that draws may use: megabytes of addresses, seconds of a processor.
MAX_MEGABYTES, MAX_SECONDS = 768, 10


class PdfNotRendered(ValueError):
    """The page could not be drawn: the file is no PDF, is damaged or locked, or asks for too much."""


def render_first_page(data: bytes) -> bytes:
    """Return the first page of a PDF as PNG, its longest side DRAWING_SIDE pixels. Raises NotDrawn."""
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

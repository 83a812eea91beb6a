"""Draw a page of a PDF from standard input to standard output, with limited memory and time.

Only `forms.render_first_page` starts this process. The limits are set before the file is read.
"""

import resource
import sys
from io import BytesIO

import pypdfium2


def _draw(side: int, megabytes: int, seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * 1024**2,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    with pypdfium2.PdfDocument(sys.stdin.buffer.read()) as document:
        first = document[0]
        made = BytesIO()
        first.render(scale=side / max(*first.get_size(), 1)).to_pil().convert("RGB").save(made, "PNG")
    sys.stdout.buffer.write(made.getvalue())


if __name__ == "__main__":
    _draw(*map(int, sys.argv[1:]))

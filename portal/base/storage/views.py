"""The program that checks signed files, for people without an account."""

from pathlib import Path

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse


@login_not_required
def check_program(request: HttpRequest) -> HttpResponse:
    """Return the program that checks a signed file without the portal."""
    program = Path(__file__).with_name("check_export.py").read_bytes()
    answer = HttpResponse(program, content_type="text/x-python; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="check_export.py"'
    return answer

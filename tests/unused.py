"""Name the functions, classes and methods that nothing uses: `python -m tests.unused`, a step of `make check`.

vulture finds them: a name counts as used where any code mentions it. This module adds the names that vulture cannot
see: templates, dotted paths in strings, migrations, and the frameworks' hooks that we write (`HOOKS`, where an unneeded
entry is an error, too).

The product is checked without its tests, to find code that only tests call; then the tests are checked with everything.
Variables are left out: most are settings, fields of the service's interface and enumerations, which are complete even
if some values are not read.
"""

import ast
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from keyword import iskeyword
from pathlib import Path

from vulture import Vulture
from vulture.core import Item

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("accessapi", "tenants", "portal", "sandbox", "stack", "demo", "bench", "manage.py")
LOOKED_AT = ("function", "class", "method", "property")

# Decorators that pass a function on to a framework.
DECORATORS = ["@*.register", "@register.*", "@receiver", "@*_validator", "@*_serializer", "@atexit.register"]
DECORATORS += ["@pytest.fixture", "@case", "@cases", "@route", "@*.connect"]

# Names that we define and another program calls, by the caller.
HOOKS = {
    "Django's models, fields and migrations": "Meta get_full_name get_short_name create_superuser get_by_natural_key "
    "pre_save get_db_prep_value value_to_string state_forwards database_forwards database_backwards",
    "Django's apps, commands, forms, widgets, caches, admin and middleware": "*Config add_arguments clean_* "
    "has_changed value_from_datadict value_omitted_from_data incr process_exception _reject "
    "handle_no_permission",
    "allauth's adapters and sessions": "is_open_for_signup get_client_ip pre_authenticate get_user "
    "_rollback_login_failed_rl_usage _delete_login_attempts_cached_email get_reset_password_from_key_url "
    "send_password_reset_mail _validate_session_key _get_session_from_db",
    "Authlib's clients, codes, tokens and grants": "save_authorization_code query_authorization_code save_token "
    "delete_authorization_code authenticate_user get_client_id get_default_redirect_uri get_allowed_scope get_scope "
    "check_endpoint_auth_method check_response_type check_grant_type get_redirect_uri check_client get_expires_in "
    "is_revoked",
    "Python's readers and servers": "readinto handle_starttag handle_data handle_endtag do_GET do_POST log_message",
    "gunicorn": "load_config",
    "fpdf2": "footer",
    "Pillow": "_read_dpi_from_exif",
    "pytest and xdist": "pytest_* _split_scope",
}

_TAG = re.compile(r"\{[{%].*?[%}]\}")
_NAME = re.compile(r"[A-Za-z_]\w*")
_DOTTED = re.compile(r"[a-z_]\w*(?:\.\w+)*[.:](\w+)")


def main() -> int:
    """Print unused names and unneeded hooks; return 1 when there are any."""
    found = Vulture(ignore_decorators=DECORATORS)
    found.scan("\n".join(sorted({*_said_by_templates()})), filename=ROOT / "templates")
    named = [*_unused(found, *PRODUCT), *_unused(found, "tests")]
    hooks = [name for group in HOOKS.values() for name in group.split()]
    wrong = [
        f"{Path(item.filename).relative_to(ROOT)}:{item.first_lineno}: nothing uses the {item.typ} {item.name}"
        for item in named
        if not any(fnmatch(item.name, hook) for hook in hooks)
    ]
    idle = [hook for hook in hooks if not any(fnmatch(item.name, hook) for item in named)]
    print("\n".join([*wrong, *(f"tests/unused.py: nobody writes the hook {hook} any more" for hook in idle)]))
    return 1 if wrong or idle else 0


def _unused(found: Vulture, *folders: str) -> list[Item]:
    """Read `folders` in addition to what was read, and return their unused names."""
    found.scavenge([str(ROOT / each) for each in folders])
    found.scan("\n".join(sorted({*_said_by_strings(folders)})), filename=ROOT / "strings")
    return [item for item in found.get_unused_code() if item.typ in LOOKED_AT and _is_in(item, folders)]


def _is_in(item: Item, folders: tuple[str, ...]) -> bool:
    path = Path(item.filename).relative_to(ROOT)
    return path.parts[0] in folders and "migrations" not in path.parts


def _said_by_templates() -> Iterator[str]:
    for folder in (ROOT / "templates", *ROOT.glob("sandbox/*/templates")):
        for path in folder.rglob("*.*"):
            for tag in _TAG.findall(path.read_text()):
                yield from (name for name in _NAME.findall(tag) if not iskeyword(name))


def _said_by_strings(folders: tuple[str, ...]) -> Iterator[str]:
    """Yield the last part of paths in strings: `"portal.base.timers.worker:PatientConsumer"`,
    f"{__name__}.resume".
    """
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    dotted = _DOTTED.fullmatch("x" + node.value if node.value.startswith(".") else node.value)
                    yield from [dotted[1]] if dotted and dotted[1].isidentifier() and not iskeyword(dotted[1]) else []


if __name__ == "__main__":
    sys.exit(main())

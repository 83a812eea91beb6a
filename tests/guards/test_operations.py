"""An operation of the service is named only in the table of operations and in the area of work that sends it."""

import ast
from functools import cache
from pathlib import Path

from accessapi.operations import SPECIFIED_OPERATIONS
from stack.paths import ROOT
from tests.support.sources import sources

# Another module that names operations: titles for people.
WORDED = {"tenants/connections/words.py"}
SHARED = {
    ("get_tenant", "tenants/connections"): "a new token is tried with the lightest call",
    ("get_tenant", "tenants/management"): "whether an environment's address answers is asked without a token",
    ("get_tenant", "portal/domain/sync"): "the mirror reads the tenant's record",
    ("list_histories", "portal/domain/history"): "the mirror reads the log",
    ("list_histories", "portal/domain/sync"): "why the log is not available is what the service refused of reading it",
    ("list_histories", "portal/members"): "whether temporary keys were given is told by the log alone",
    ("list_guests", "portal/domain/sync"): "the mirror reads the list",
    ("list_guests", "portal/guests"): "a guest whose answer was lost is looked for in the list",
    ("list_membergroups", "portal/domain/sync"): "the mirror reads the list",
    ("list_membergroups", "portal/groups"): "a group whose answer was lost is looked for in the list",
    ("read_member", "portal/domain/sync"): "single reads are the mirror's",
    ("read_member", "portal/areas"): "why rights are not known is what the service refused of reading them",
    ("update_member", "portal/members"): "the member's own fields",
    ("update_member", "portal/rights"): "the member's rights",
    ("create_member", "portal/members"): "the member's own fields",
    ("create_member", "portal/explain"): "rights begin with the member",
    ("update_member", "portal/explain"): "rights change with the member",
    ("one_time_qr", "portal/members"): "issuing a one-time code",
    ("one_time_qr", "portal/domain/people"): "a field of a member's QR information is called the same",
    ("update_member", "portal/reviews"): "since when a right holds is what requests of it told",
    ("create_member", "portal/reviews"): "since when a right holds is what requests of it told",
    ("create_guest", "portal/guests"): "issuing a code",
    ("create_guest", "portal/today"): "what was asked about a guest is forgotten with it",
    ("update_guest", "portal/guests"): "changing and ending a code",
    ("update_guest", "portal/today"): "what was asked about a guest is forgotten with it",
}  # fmt: skip


def folder_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[: 3 if parts[:2] in (("portal", "base"), ("portal", "domain")) else 2])


@cache
def named() -> dict[str, set[str]]:
    """Return the folders that name each operation."""
    found: dict[str, set[str]] = {}
    for module in sources("portal", "tenants"):
        for node in ast.walk(module.tree) if module.name not in WORDED else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in SPECIFIED_OPERATIONS:
                found.setdefault(node.value, set()).add(folder_of(module.path))
    return found


def test_an_operation_is_named_in_one_area_or_for_a_reason():
    several = {name: folders for name, folders in named().items() if len(folders) > 1}
    unexplained = {(name, folder) for name, folders in several.items() for folder in folders} - SHARED.keys()
    assert unexplained == set(), "ask the table (accessapi.operations) for what is to be known of an operation"


def test_no_reason_is_left_over():
    now = named()
    assert {pair for pair in SHARED if pair[1] not in now.get(pair[0], ()) or len(now[pair[0]]) == 1} == set()


def test_the_engine_names_no_operation():
    assert {name for name, folders in named().items() if "portal/domain/intents" in folders} <= {"request_result"}

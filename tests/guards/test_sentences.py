"""No text is stored in the language of the person who acted.

Each entry of the audit log and each title is a code with a registered sentence, with the values that its sentence
names, in both languages.
"""

import ast
from collections.abc import Iterator
from functools import cache

from django.utils import translation

from portal.areas.merging import EditKind
from portal.devices.actions import DoorCommand
from portal.domain.safety.models import State
from portal.keys.actions import KeyCommand as KeyCommand
from portal.reports.kinds import KINDS as REPORTS
from portal.today import signals
from portal.webhooks import actions as hooks
from tenants.audit import PORTAL_ACTOR
from tenants.connections.words import REFUSALS
from tenants.roles import ROLES
from tenants.sentences import ACTORS, REPLACEMENT_NAMES, TEXTS
from tests.support.sources import sources


@cache
def trees() -> dict[str, ast.Module]:
    """Return the tree of each module of the site by its path."""
    return {module.name: module.tree for module in sources("tenants", "portal")}


def calls(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in names:
                yield node


def keywords(tree: ast.AST, name: str) -> Iterator[ast.keyword]:
    return (each for call in calls(tree, "record") for each in call.keywords if each.arg == name)


def texts(node: ast.AST) -> set[str]:
    return {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)}


def given(path: str, *names: str, at: int) -> set[str]:
    """Return every text that calls of these functions in a module have as this argument."""
    found = [call.args[at] for call in calls(trees()[path], *names) if len(call.args) > at]
    return set().union(*(texts(each) for each in found))


def acts_with_jobs() -> set[str]:
    everywhere = given("portal/domain/jobs/actions.py", "record_action", at=2) | given(
        "portal/domain/jobs/tasks.py", "record_action", at=2
    )
    of_imports = given("portal/imports/actions.py", "record_action", at=2)
    return {f"{family}.{act}" for family in ("change", "import") for act in everywhere} | {
        f"import.{act}" for act in of_imports
    }


ALERTS = {each for each in TEXTS if each.startswith("alert_kind.")}
#: Codes that are computed, with all their possible values.
COMPUTED = {
    ("portal/domain/jobs/kinds.py", "code"): acts_with_jobs(),
    ("portal/domain/jobs/bulk_executor.py", "_PART_TITLES[Action(part.action)]"): {
        "job.creates", "job.changes", "job.deletes"
    },
    ("portal/areas/jobs.py", "f'area.{kind}'"): {f"area.{kind}" for kind in EditKind},
    ("portal/rights/actions.py", "action"): given(
        "portal/rights/actions.py", "_audit_template", at=2
    ),
    ("portal/members/actions.py", "f'member.reveal_{what}'"): {
        "member.reveal_card", "member.reveal_qr", "member.reveal_one_time"
    },
    ("portal/reviews/decisions.py", "_AUDIT_CODES[press.action]"): {
        "review.confirmed", "review.marked", "review.undone"
    },
    ("portal/reviews/decisions.py", "_AUDIT_CODES_MANY[action]"): {"review.confirmed_many", "review.marked_many"},
    ("portal/reports/actions.py", "f'report_kind.{kind}'"): {f"report_kind.{kind}" for kind in REPORTS},
    ("portal/devices/actions.py", "f'door.{command.value}'"): {f"door.{value}" for value in DoorCommand.values},
    ("portal/keys/actions.py", "f'key.{command.value}'"): {f"key.{value}" for value in KeyCommand.values},
    ("portal/lockdown/actions.py", "f'{order.kind}.{action}'"): {
        each for each in TEXTS if each.startswith(("lockdown.", "evacuation.", "relock.")) and "settings" not in each
    },
    ("portal/guests/actions.py", "title"): {"guest.change", "guest.extend"},
    ("portal/guests/actions.py", "action"): given("portal/guests/actions.py", "_audit", at=2),
    ("portal/domain/cameras/actions.py", "action"): given("portal/domain/cameras/actions.py", "_audit", at=2),
    ("portal/evidence/actions.py", "action"): given("portal/evidence/actions.py", "_audit", at=2),
    ("portal/plans/actions.py", "action"): given("portal/plans/actions.py", "_audit", at=2),
    ("portal/history/searches.py", "action"): given("portal/history/searches.py", "_audit", at=2),
    ("portal/domain/visits/checking_in.py", "action"): given("portal/domain/visits/checking_in.py", "_step", at=2),
    ("portal/expected/actions.py", "code"): {
        f"expected.{act}"
        for act in given("portal/expected/actions.py", "record_action", at=2)
        | {"started", "stopped", "continued", "discarded", "downloaded"}
    },
    ("portal/history/exports.py", "f'log.export_{action}'"): {
        f"log.export_{act}" for act in ("started", "stopped", "continued", "downloaded")
    },
    ("portal/codes/actions.py", "f'guest.{action}'"): {
        f"guest.{act}"
        for module in ("actions", "views")
        for act in given(f"portal/codes/{module}.py", "record", at=2)
    },
    ("tenants/connections/actions.py", "_OUTCOME_CODES[outcome]"): {
        "outcome.succeeded", "outcome.failed", "outcome.cancelled", "outcome.uncertain"
    },
    ("tenants/connections/actions.py", "f'connection.licence_key_{done}'"): {
        "connection.licence_key_stored", "connection.licence_key_removed"
    },
    ("portal/domain/alerts/actions.py", "action"): given("portal/domain/alerts/actions.py", "_audit", at=2),
    ("portal/domain/alerts/rules.py", "action"): {"alert_rule.add", "alert_rule.change", "alert_rule.remove"},
    ("portal/domain/notifications/actions.py", "action"): given(
        "portal/domain/notifications/actions.py", "audit_change", at=2
    ),
    ("portal/domain/notifications/actions.py", "f'alert_kind.{kind}'"): ALERTS,
    ("portal/domain/alerts/rules.py", "f'alert_kind.{_kind_of(subject).name}'"): ALERTS,
    ("portal/domain/safety/changing.py", "f'safety.{state}'"): {
        f"safety.{each}" for each in State.values if each != State.WAITING
    },
    ("portal/webhooks/actions.py", "f'webhook.{change}'"): {f"webhook.{change}" for change in hooks.WebhookChange},
    ("tenants/connections/oauth_grant.py", "f'refused.{reason}'"): {f"refused.{reason}" for reason in REFUSALS},
    ("tenants/staff/actions.py", "f'role.{name}'"): {f"role.{role.name}" for role in ROLES},
    ("tenants/management/commands/add_staff.py", "f'role.{role.name}'"): {f"role.{role.name}" for role in ROLES},
    ("tenants/management/commands/add_tenant.py", "action"): {"tenant.add", "tenant.change"},
    ("tenants/support/actions.py", "action"): {"support.allow", "support.refuse"},
}  # fmt: skip


#: Fixed names with which these modules record their own actions.
_CALLED = {signals.AUDIT_LABEL, PORTAL_ACTOR}


def said() -> Iterator[tuple[str, ast.Call, set[str]]]:
    """Yield (place, call, possible codes) of every stored sentence."""
    for path, tree in trees().items():
        for call in calls(tree, "coded_sentence"):
            if path != "tenants/connections/views.py":  # shows a message: another function with this name
                yield f"{path}:{call.lineno}", call, _codes(path, call.args[0])


def _codes(path: str, first: ast.expr) -> set[str]:
    match first:
        case ast.Constant(value=str(code)):
            return {code}
        case ast.IfExp(body=one, orelse=other):
            return _codes(path, one) | _codes(path, other)
    source = ast.unparse(first)
    return COMPUTED.get((path, source), {f"nobody described {source}"})


class Names(dict):
    """A mapping with a value for every name, which stores the requested names."""

    def __missing__(self, name):
        self[name] = 2
        return 2


def placeholders(text: object) -> set[str]:
    """Return the values that a sentence names."""
    asked = Names()
    _ = text % asked
    return set(asked)


def test_every_code_has_a_sentence_and_is_given_the_values_that_it_names():
    found = list(said())
    assert {"guest.issue", "area.grant", "import.uploaded", "role.owner"} <= set().union(
        *(codes for *_, codes in found)
    )
    for where, call, codes in found:
        values = {keyword.arg for keyword in call.keywords}
        assert codes, where
        for code in codes:
            assert code in TEXTS, f"{where}: {code}"
            assert placeholders(TEXTS[code]) - REPLACEMENT_NAMES.keys() <= values, f"{where}: {code}"


def test_every_sentence_says_the_same_in_both_languages():
    for code, text in TEXTS.items():
        with translation.override("en"):
            english, names = str(text % Names()), placeholders(text)
        with translation.override("ja"):
            assert placeholders(text) == names, code
            assert str(text % Names()) != english, code


def test_whoever_is_no_person_is_named_in_both_languages():
    labels = [keyword.value for tree in trees().values() for keyword in keywords(tree, "by_label")]
    assert {label for each in labels for label in texts(each)} | _CALLED <= ACTORS.keys()
    for text in [*REPLACEMENT_NAMES.values(), *ACTORS.values()]:
        with translation.override("en"):
            english = str(text)
        with translation.override("ja"):
            assert str(text) != english


def test_nothing_is_recorded_in_the_words_of_whoever_did_it():
    for path, tree in trees().items():
        for function in [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]:
            for call in calls(function, "record", "record_intent", "submit", "download_recorder"):
                for keyword in call.keywords:
                    if keyword.arg in ("summary", "title"):
                        assert _is_said(keyword.value, function, tree), f"{path}:{call.lineno}"
            for call in calls(function, "record"):
                if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "audit":
                    assert "summary" in {keyword.arg for keyword in call.keywords}, f"{path}:{call.lineno}"


def _is_said(node: ast.expr, function: ast.FunctionDef, tree: ast.Module) -> bool:
    """Check whether this is a sentence of the table: created here, or received with the type `Sentence`."""
    match node:
        case ast.IfExp(body=one, orelse=other):
            return _is_said(one, function, tree) and _is_said(other, function, tree)
        case ast.Call(func=ast.Name(id="coded_sentence")):
            return True
        case ast.Attribute(value=ast.Name(id="intent" | "entry"), attr="summary"):
            return True
        case ast.Call(func=ast.Name(id=name)):
            made = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name == name]
            return any(each.returns and ast.unparse(each.returns) == "Sentence" for each in made)
        case ast.Name(id=name):
            mine = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and _holds(each, function)]
            return any(_gives(each, name, tree) for each in mine)
    return False


def _holds(outer: ast.FunctionDef, inner: ast.FunctionDef) -> bool:
    return any(each is inner for each in ast.walk(outer))


def _gives(function: ast.FunctionDef, name: str, tree: ast.Module) -> bool:
    """Check whether the function has a `Sentence` argument with this name, or creates one."""
    arguments = [*function.args.args, *function.args.kwonlyargs]
    if any(each.arg == name and each.annotation and "Sentence" in ast.unparse(each.annotation) for each in arguments):
        return True
    assigned = [each for each in ast.walk(function) if isinstance(each, ast.Assign)]
    values = [each.value for each in assigned if ast.unparse(each.targets[0]) == name]
    return bool(values) and all(_is_said(each, function, tree) for each in values)


def test_no_text_is_translated_inside_an_f_string():
    """Check this because gettext does not collect such a text: it would stay English."""
    inside = [
        (path, call.lineno)
        for path, tree in trees().items()
        for f_string in ast.walk(tree)
        if isinstance(f_string, ast.JoinedStr)
        for call in calls(f_string, "_", "_t", "gettext", "ngettext", "pgettext", "npgettext")
    ]
    assert inside == []

"""A form that shows stored values reports when another person changed them while it was open."""

import ast

from portal.base.ui.shown_values import ConflictForm, ShownValuesForm
from tests.support.sources import sources

#: Forms that begin with values but change nothing stored that two people edit, and why.
ALONE = {
    "CloseForm": "an act, with a suggested day",
    "IncidentForm": "a new incident",
    "IssueForm": "a new guest",
    "NewForm": "new cameras",
    "NewMemberRightsForm": "a new template of an import",
    "NotificationForm": "a person's own wish",
    "HoursForm": "a part of the form of a rule, which says so, and of a person's own wish",
    "PictureForm": "a new item of an incident",
    "RoleForm": "compared with the role that its page showed, by tenants.staff",
    "TemporaryKeysForm": "rights given for a while, on top of what is there",
    "UploadForm": "a new list",
}


def forms_with_values():
    """Return the names of forms that are created with `initial`."""
    found = set()
    for module in sources("portal", "tenants"):
        for each in ast.walk(module.tree):
            if isinstance(each, ast.ClassDef):
                found |= {each.name for call in ast.walk(each) if _is_filled(call) and _called(call) == "__init__"}
            elif _is_filled(each) and _called(each).endswith("Form"):
                found.add(_called(each))
    return found


def _is_filled(node):
    return isinstance(node, ast.Call) and any(each.arg == "initial" for each in node.keywords)


def _called(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _all_of(kind):
    return {each.__name__ for each in kind.__subclasses__()}.union(*map(_all_of, kind.__subclasses__()))


def test_forms_over_stored_data_say_that_it_changed():
    seen = _all_of(ConflictForm) | _all_of(ShownValuesForm)
    assert forms_with_values() - seen - ALONE.keys() == set()

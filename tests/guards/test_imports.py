"""Imports are at the top of their module, where a reader and the import rules find them.

An import inside a function hides a circular import. Only `ready()` of an app needs it, because models are not loaded
before.
"""

import ast

from tests.support.sources import sources

PACKAGES = ("accessapi", "tenants", "portal", "sandbox", "stack", "demo")
#: Circular imports that are still to be removed, and why they exist.
ALLOWED = {
    "portal/base/ui/tables/columns.py": "a model cannot be imported while apps load, which is when lists are declared",
    "portal/reports/report_worker.py": "the library for PDF takes a third of a worker's start, and few workers need it",
}


def inside_functions(tree: ast.Module) -> int:
    """Count the imports inside functions other than `ready()`."""
    functions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != "ready"
    ]
    found = {inner for node in functions for inner in ast.walk(node) if isinstance(inner, ast.Import | ast.ImportFrom)}
    return len(found)


def test_imports_stand_at_the_top_of_their_module():
    found = {each.name for each in sources(*PACKAGES) if inside_functions(each.tree)}
    assert sorted(found - set(ALLOWED)) == [], "to the top with them"
    assert sorted(set(ALLOWED) - found) == [], "stale: take the entry out"
    assert all(ALLOWED.values())


def test_the_guard_sees_imports_inside_functions():
    assert inside_functions(ast.parse("def ring():\n    if True:\n        from portal import tasks")) == 1
    assert inside_functions(ast.parse("def ready(self):\n    import x\ndef go(self):\n    import y")) == 1
    assert inside_functions(ast.parse("import os\nif os.name:\n    import sys")) == 0

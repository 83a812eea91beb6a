"""The separation of tenants: every table, every address, and every way around it."""

import re

import pytest
from django.apps import apps
from django.db import connection

from tenants.models import TenantModel
from tenants.roles import Permission
from tenants.vault import EncryptedField
from tests.support.crawl import addresses, addresses_of_tenants
from tests.support.sources import sources

#: Tables with a tenant_id that are not TenantModels, and why. An outdated entry fails.
NOT_SCOPED: dict[str, str] = {
    "people_membersearch": "holds keyed hashes only; row security would keep PostgreSQL from using its index",
    "history_historysearch": "the same, for records of the log",
}

#: Addresses under /t/ that are not declared with tenant_view, and why. An outdated entry fails.
OPEN_ADDRESSES: dict[str, str] = {}

#: Addresses outside of /t/ that need no sign-in, and why. An outdated entry fails.
PUBLIC_ADDRESSES: dict[str, str] = {
    "healthz": "says that the process lives, and nothing else",
    "readyz": "says that the house is up, and nothing else",
    "metrics": "counters for the operator's monitoring, without tenants' names",
    "look/": "the sign-in page can be read in either language, light or dark",
    "invitations/<str:token>/": "whoever is invited has no account yet; the token is the key",
    "signing-keys/": "whoever checks a signed export has no account; the public halves of keys are public",
    "signing-keys/check_export.py": "the program that checks a signed export, for the same people",
    "g/<str:token>/": "a guest's phone shows the own code; the token is the key, and names its tenant under seal",
    "hooks/<str:token>/": "the service posts what happened; the token is the key, and the body is signed",
}


def tenant_models():
    return [model for model in apps.get_models() if issubclass(model, TenantModel)]


@pytest.mark.django_db
def test_every_tenant_table_is_bound_by_row_security_for_its_owner_too():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid"
            " WHERE c.relrowsecurity AND c.relforcerowsecurity AND p.polname = 'tenant_rows' AND p.polcmd = '*'"
        )
        bound = {row[0] for row in cursor.fetchall()}
    tables = {model._meta.db_table for model in tenant_models()}
    assert tables - bound == set(), "end the migration with tenants.postgresql.row_security.EnableRowSecurity"


@pytest.mark.django_db
def test_every_part_of_a_bound_table_is_bound_too():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT part.relname, part.relforcerowsecurity AND EXISTS (SELECT FROM pg_policy WHERE polrelid = part.oid)"
            " FROM pg_inherits JOIN pg_class part ON part.oid = inhrelid JOIN pg_class whole ON whole.oid = inhparent"
            " WHERE whole.relrowsecurity AND part.relkind = 'r'"
        )
        parts = dict(cursor.fetchall())
    assert "history_history_default" in parts
    assert all(parts.values()), parts


@pytest.mark.django_db
def test_every_table_with_a_tenant_is_a_tenant_model():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
            " WHERE a.attname = 'tenant_id' AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
            " AND c.relnamespace = current_schema()::regnamespace"
        )
        with_tenant = {row[0] for row in cursor.fetchall()}
    scoped = {model._meta.db_table for model in tenant_models()}
    scoped |= {f.m2m_db_table() for model in tenant_models() for f in model._meta.local_many_to_many}
    assert with_tenant - scoped == set(NOT_SCOPED)


def test_every_tenant_model_keeps_its_scoped_managers():
    for model in tenant_models():
        assert model._default_manager.name == "objects", model
        assert model._base_manager.name == "reachable_objects", model
        assert model._meta.get_field("tenant").remote_field.model._meta.label == "tenants.Tenant", model
        assert not model._meta.local_many_to_many, f"{model}: a table between has no tenant_id; write it as a model"


def test_every_address_under_a_tenant_checks_a_permission():
    found = {each.route: each.view for each in addresses_of_tenants()}
    assert found
    unchecked = {
        route for route, view in found.items() if not isinstance(getattr(view, "permission", None), Permission)
    }
    assert unchecked == set(OPEN_ADDRESSES)
    assert all(route.startswith("t/<slug:tenant>/") for route in found)


def test_only_listed_addresses_are_open_to_everybody():
    public = {
        each.route
        for each in addresses()
        if getattr(each.view, "login_required", True) is False and not each.route.startswith("accounts/")
    }
    assert public == set(PUBLIC_ADDRESSES)


def test_encrypted_columns_stand_only_where_the_vault_can_bind_them():
    for model in apps.get_models():
        if any(isinstance(field, EncryptedField) for field in model._meta.local_fields):
            assert hasattr(model, "tenant_id"), f"{model} has no tenant_id to bind its secrets to"


def test_working_across_tenants_always_says_why():
    bare = [
        f"{module.name}: {line.strip()}"
        for module in sources("tenants", "portal")
        if module.path.name != "scope.py"
        for line in module.lines
        if re.search(r"\bacross_tenants\((?!\s*[f\"'(]|\s*$|reason)", line) and "def " not in line
    ]
    assert bare == []

"""The migration files old audit entries in the same way as the database files new ones."""

from importlib import import_module
from typing import Any

import psycopg
import pytest
from django.db import transaction

from tenants import audit
from tenants.models import AuditEntry, AuditKind
from tenants.scope import tenant_scope
from tests.support.databases import as_owner

pytestmark = pytest.mark.django_db(transaction=True)
FILED = (
    "kind__action",
    "kind__result",
    "kind__target_kind",
    "kind__names_target",
    "kind__by_label",
    "act_at",
    "act_id",
)


def record(tenant: Any, action: str, **values: str) -> None:
    with transaction.atomic():
        audit.record(tenant=tenant, by=None, action=action, **values)  # type: ignore[arg-type]  # texts only


def test_old_entries_are_filed_as_new_ones_are(make_two: Any) -> None:
    two = make_two()
    with tenant_scope(two.a):
        record(two.a, "create_member", intent_id="1", by_label="beat")
        record(two.a, "create_member.uncertain", intent_id="1", by_label="beat")
        record(two.a, "create_member.succeeded", intent_id="1", target="member:M1", by_label="beat")
        record(two.a, "intent.resolved", intent_id="1", target="member:M1")
        record(two.a, "group.merged", target="group:G1")
        new = list(AuditEntry.objects.order_by("pk").values_list(*FILED))
    with as_owner() as owner:
        owner.execute("SET portal.across = 'on'")
        owner.execute("ALTER TABLE tenants_auditentry DISABLE TRIGGER append_only")
        owner.execute("UPDATE tenants_auditentry SET kind_id = 0, act_id = 0, act_at = now()")
        owner.execute("ALTER TABLE tenants_auditentry ENABLE TRIGGER append_only")
        owner.execute("DELETE FROM tenants_auditkind")
        owner.execute(import_module("tenants.migrations.0002_accounts_and_audit_index").FILE_OLD)
    with tenant_scope(two.a):
        assert list(AuditEntry.objects.order_by("pk").values_list(*FILED)) == new
        assert AuditKind.objects.count() == 5
    with as_owner() as owner:
        owner.execute("SET portal.across = 'on'")
        with pytest.raises(psycopg.errors.RaiseException, match="only ever added to"):
            owner.execute("UPDATE tenants_auditentry SET kind_id = 0")

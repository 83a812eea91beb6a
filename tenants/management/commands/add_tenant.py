"""add_tenant SLUG --name NAME --environment NAME"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from tenants import audit
from tenants.models import Connection, ServiceEnvironment, Tenant
from tenants.scope import tenant_scope
from tenants.sentences import coded_sentence


class Command(BaseCommand):
    help = "Add a tenant, or change the name of the one at this address. It is connected from its connection page."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="its address: /t/SLUG/")
        parser.add_argument("--name", required=True)
        parser.add_argument("--environment", required=True)

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        environment = ServiceEnvironment.objects.filter(name=options["environment"]).first()
        if environment is None:
            known = ", ".join(ServiceEnvironment.objects.order_by("name").values_list("name", flat=True)) or "none"
            raise CommandError(
                f"There is no environment {options['environment']!r} (there are: {known}). Nothing was changed."
            )
        row = Tenant.objects.filter(slug=options["slug"]).first()
        made = row is None
        row = row or Tenant(slug=options["slug"])
        if not made and row.environment_id != environment.pk:
            raise CommandError(f"{row.slug} lives in the environment {row.environment}. Nothing was changed.")
        row.name, row.environment = options["name"], environment
        try:
            row.clean_fields()
        except ValidationError as error:
            raise CommandError("; ".join(error.messages) + " Nothing was changed.") from error
        row.save()
        with tenant_scope(row):
            Connection.objects.get_or_create(tenant=row)
            action = "tenant.add" if made else "tenant.change"
            summary = coded_sentence(action, name=row.name)
            audit.record(tenant=row, by=None, by_label="command line", action=action, target="tenant", summary=summary)
        self.stdout.write(f"Tenant {row.slug} was {'added' if made else 'changed'}.")

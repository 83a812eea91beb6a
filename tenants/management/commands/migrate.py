"""migrate: Django's command, signed in as the owner of the tables."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from tenants.postgresql import grants


class Command(migrate.Command):
    help = (
        f"{migrate.Command.help} Signs in with DATABASE_OWNER_URL where it is set, and gives the role of DATABASE_URL "
        "what the site needs."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        alias = options["database"]
        with grants.as_owner(alias):
            _check_version(alias)
            super().handle(*args, **options)
            if not (options["plan"] or options["check_unapplied"]):
                grants.apply(alias)


def _check_version(alias: str) -> None:
    """Raise CommandError if another version of the portal created the tables. Nothing was changed then."""
    loader = MigrationLoader(connections[alias])
    ours = {app.label for app in apps.get_app_configs() if app.name.partition(".")[0] in ("tenants", "portal")}
    unknown = sorted(
        each for each in loader.applied_migrations.keys() - loader.disk_migrations.keys() if each[0] in ours
    )
    if unknown:
        names = ", ".join(".".join(each) for each in unknown[:3])
        raise CommandError(
            f"Another version of the portal created this database: it has {len(unknown)} migrations that this version "
            f"does not have ({names} ...). Nothing was changed. Use that version, or an empty database "
            "(for the demo: make demo RESET=1)."
        )

"""migrate: Django's command, signed in as the owner of the tables."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate

from tenants.postgresql import grants


class Command(migrate.Command):
    help = (
        f"{migrate.Command.help} Signs in with DATABASE_OWNER_URL where it is set, and gives the role of DATABASE_URL "
        "what the site needs."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        alias = options["database"]
        with grants.as_owner(alias):
            super().handle(*args, **options)
            if not (options["plan"] or options["check_unapplied"]):
                grants.apply(alias)

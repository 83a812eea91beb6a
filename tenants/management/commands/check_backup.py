"""check_backup FILE [--alone]: check whether this dump can be trusted."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from tenants.backup.checking import BackupCheck
from tenants.backup.reading import UnreadableDump


class Command(BaseCommand):
    help = (
        "Check a dump of the database without restoring it: it can be read to its end, has the rows of each tenant "
        "that the site's database had then, VAULT_KEYS opens its secrets, and its stored files are there. "
        "Exits with an error when the dump must not be trusted. Needs pg_restore on the path."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="as pg_dump --format custom wrote it")
        parser.add_argument("--alone", action="store_true", help="do not compare it with the database")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            check = BackupCheck(options["file"], is_alone=options["alone"])
        except UnreadableDump as error:
            raise CommandError(f"Do not trust this dump. {error}") from error
        except OperationalError as error:
            raise CommandError(
                "The dump was not checked: the database to compare it with does not answer. Without one, use --alone."
            ) from error
        for problem in check.problems:
            self.stderr.write(problem)
        if check.problems:
            raise CommandError(f"Do not trust this dump. Problems: {len(check.problems)}.")
        self.stdout.write(check.summary())

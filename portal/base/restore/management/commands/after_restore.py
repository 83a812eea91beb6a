"""Mark a restored database: `manage.py after_restore [--nothing-lost]`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.base.restore import marking


class Command(BaseCommand):
    help = (
        "Mark what can no longer be known after a backup was restored, and pause automatic work. The clock does it by "
        "itself when it finds another database than before; use this command where it cannot know, as after a disk was "
        "set back. Stop workers and clock first."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--nothing-lost",
            action="store_true",
            help="the database was moved, upgraded or taken over by a standby without loss: mark nothing, and go on",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["nothing_lost"]:
            marking.declare_unchanged()
            self.stdout.write("This database is taken for the one before. Nothing was marked.")
            return
        marking.declare_restored()
        if not marking.mark_all_tenants():
            raise CommandError("Another process is marking this database now. Look at the pages of the tenants.")
        self.stdout.write("What can no longer be known is marked. Owners and operators get an e-mail.")

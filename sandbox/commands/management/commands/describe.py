"""The table of docs/service.md: `manage.py describe < cases.json`."""

import json
import sys

from django.core.management.base import BaseCommand

from sandbox.documentation import table


class Command(BaseCommand):
    help = "Prints docs/service.md; reads the contract suite's cases, a JSON object of lists, from standard input."

    # Nothing is served and no database is needed.
    requires_system_checks = ()

    def handle(self, **options: object) -> None:
        self.stdout.write(table(json.load(sys.stdin)), ending="")

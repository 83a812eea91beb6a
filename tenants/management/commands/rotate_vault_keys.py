"""rotate_vault_keys: re-encrypt every secret under the current key, while the site runs."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tenants import key_rotation, vault
from tenants.postgresql import grants


class Command(BaseCommand):
    help = (
        "Re-encrypt every secret that is not under the first key of VAULT_KEYS, in small batches, while the site runs. "
        "Start it after all processes know the new key. Several may run at once; stopped, it continues where it was. "
        "Exits with an error when a secret could not be opened, and names its row."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--batch", type=int, default=200, help="rows in one transaction")
        parser.add_argument("--check", action="store_true", help="change nothing, count what is left to do")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["batch"] < 1:
            raise CommandError("--batch must be at least 1.")
        with grants.as_owner():  # the site's role may not change entries of the audit log
            self._rotate(**options)

    def _rotate(self, **options: Any) -> None:
        left = closed = 0
        for column in key_rotation.columns():
            if not options["check"]:
                self._print_count(column.label, key_rotation.rotate_column(column, options["batch"]))
            for row, opens in key_rotation.list_remaining(column):
                left += 1
                closed += not opens
                if not opens:
                    self.stderr.write(f"{column.label} of row {row} does not open with the keys of VAULT_KEYS")
        if not options["check"]:
            self._print_count("second factors", key_rotation.rotate_second_factors())
        self.stdout.write(f"Current key: {vault.key_ring().current}. Secrets under other keys: {left}.")
        if closed:
            raise CommandError(f"{closed} secrets could not be opened and were left as they are.")

    def _print_count(self, label: str, changed: int) -> None:
        if changed:
            self.stdout.write(f"{label}: {changed} re-encrypted")

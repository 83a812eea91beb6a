"""add_environment NAME --base-url URL --client-id ID --client-secret-file FILE [--operations FILE.toml]"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accessapi.client import checked_base_url
from accessapi.overrides import OverrideError, load
from tenants.management.files import one_line, text_of
from tenants.models import ServiceEnvironment


class Command(BaseCommand):
    help = (
        "Add an environment of the access-control service, or change the one of this name. Prints the redirect URI to "
        "register with the service. The secret is read from a file, so that it never stands in a list of processes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="small letters, digits and hyphens: development, production")
        parser.add_argument("--base-url", required=True)
        parser.add_argument("--client-id", required=True)
        parser.add_argument("--client-secret-file", required=True, help="- reads standard input")
        parser.add_argument("--operations", metavar="FILE.toml", help="what this service does differently")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        row = ServiceEnvironment.objects.filter(name=options["name"]).first()
        made = row is None
        row = row or ServiceEnvironment(name=options["name"])
        try:
            row.base_url = checked_base_url(options["base_url"])
        except ValueError as error:
            raise CommandError(f"--base-url: {error}. Nothing was changed.") from error
        row.client_id = options["client_id"]
        row.client_secret = one_line(options["client_secret_file"], "--client-secret-file")
        if options["operations"] is not None:
            row.overrides = _checked(options["operations"])
        _validate(row)
        row.save()
        self.stdout.write(f"Environment {row.name} was {'added' if made else 'changed'}.")
        self.stdout.write(f"Redirect URI to register with the service: {row.redirect_uri}")


def _checked(file: str) -> str:
    text = text_of(file, "--operations")
    try:
        load(text)
    except OverrideError as error:
        raise CommandError(f"--operations {file}: {error}. Nothing was changed.") from error
    return text


def _validate(row: ServiceEnvironment) -> None:
    try:
        row.clean_fields(
            exclude=["base_url"]
        )  # hosts without a dot are allowed: the service may run in the same network
    except ValidationError as error:
        raise CommandError("; ".join(error.messages) + " Nothing was changed.") from error

"""add_environment NAME --base-url URL --client-id ID --client-secret-file FILE [--operations FILE.toml]

add_environment NAME --check: check whether its address answers.
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import httpx2
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accessapi.client import validate_base_url
from accessapi.overrides import OverrideError, load_overrides
from accessapi.transport import tls_context
from tenants.management.files import read_line, read_text
from tenants.models import ServiceEnvironment

_TIMEOUT_SECONDS = 5
_REQUIRED_OPTIONS = ("base_url", "client_id", "client_secret_file")


class Command(BaseCommand):
    help = (
        "Add an environment of the access-control service, or change the one of this name. Prints the redirect URI to "
        "register with the service, and warns when nothing answers at the address. The secret is read from a file, so "
        "that it never stands in a list of processes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="small letters, digits and hyphens: development, production")
        parser.add_argument("--base-url")
        parser.add_argument("--client-id")
        parser.add_argument("--client-secret-file", help="- reads standard input")
        parser.add_argument("--operations", metavar="FILE.toml", help="what this service does differently")
        parser.add_argument("--check", action="store_true", help="change nothing, say whether its address answers")

    def handle(self, *args: Any, **options: Any) -> None:
        given = {
            f"--{name.replace('_', '-')}": options[name] is not None for name in (*_REQUIRED_OPTIONS, "operations")
        }
        if options["check"]:
            if any(given.values()):
                raise CommandError("--check takes only the name of an environment. Nothing was changed.")
            self._check(options["name"])
            return
        missing = [option for option, is_given in given.items() if not is_given and option != "--operations"]
        if missing:
            raise CommandError(f"These options are missing: {', '.join(missing)}. Nothing was changed.")
        row, made = _save(options)
        self.stdout.write(f"Environment {row.name} was {'added' if made else 'changed'}.")
        self.stdout.write(f"Redirect URI to register with the service: {row.redirect_uri}")
        if reason := _unreachable_reason(row):
            self.stderr.write(
                f"Warning: {row.base_url} does not answer: {reason}. The environment was saved. Check the address; "
                f"`add_environment {row.name} --check` asks again."
            )
        else:
            self.stdout.write(f"{row.base_url} answers.")

    def _check(self, name: str) -> None:
        row = ServiceEnvironment.objects.filter(name=name).first()
        if row is None:
            raise CommandError(f"There is no environment {name!r}.")
        if reason := _unreachable_reason(row):
            raise CommandError(f"{row.base_url} does not answer: {reason}.")
        self.stdout.write(f"{row.base_url} answers.")


@transaction.atomic
def _save(options: dict[str, Any]) -> tuple[ServiceEnvironment, bool]:
    """Save the environment. Return it, and whether it is new."""
    row = ServiceEnvironment.objects.filter(name=options["name"]).first()
    made = row is None
    row = row or ServiceEnvironment(name=options["name"])
    try:
        row.base_url = validate_base_url(options["base_url"])
    except ValueError as error:
        raise CommandError(f"--base-url: {error}. Nothing was changed.") from error
    row.client_id = options["client_id"]
    row.client_secret = read_line(options["client_secret_file"], "--client-secret-file")
    if options["operations"] is not None:
        row.overrides = _load_overrides(options["operations"])
    _validate(row)
    row.save()
    return row, made


def _unreachable_reason(row: ServiceEnvironment) -> str:
    """Call the service once, without a token. Return why it does not answer; empty after any answer, also a refusal."""
    url = row.base_url + row.catalogue.find("get_tenant").path
    try:
        with (
            httpx2.Client(timeout=_TIMEOUT_SECONDS, verify=tls_context(), trust_env=False) as client,
            client.stream("GET", url),
        ):
            return ""
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        return str(error) or type(error).__name__


def _load_overrides(file: str) -> str:
    text = read_text(file, "--operations")
    try:
        load_overrides(text)
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

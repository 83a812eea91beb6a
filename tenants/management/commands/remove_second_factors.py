"""remove_second_factors EMAIL"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from tenants.models import AccountEvent, User
from tenants.staff import account_events


class Command(BaseCommand):
    help = (
        "Remove the passkeys, authenticator app and recovery codes of a person who lost them, and end their sessions. "
        "The person gets an e-mail. They sign in with the password and set up a new passkey or app."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email=options["email"].strip().lower()).first()
        if user is None:
            raise CommandError(f"There is no account {options['email']!r}. Nothing was changed.")
        factors = Authenticator.objects.filter(user=user)
        if not factors.exists():
            raise CommandError(f"{user.email} has no second factor. Nothing was changed.")
        factors.delete()
        for session in UserSession.objects.filter(user=user):
            session.end()
        account_events.record(None, AccountEvent.Kind.FACTOR_REMOVED, user)
        self.stdout.write(f"The second factors of {user.email} were removed, and all its sessions ended.")

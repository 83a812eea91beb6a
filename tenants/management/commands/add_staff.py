"""add_staff EMAIL --role ROLE [--tenant SLUG] [--password-file FILE]"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from allauth.account.models import EmailAddress
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email
from django.db import transaction

from tenants import audit, roles
from tenants.management.files import read_line
from tenants.models import Staff, Tenant, User
from tenants.scope import tenant_scope
from tenants.sentences import coded_sentence
from tenants.staff.actions import name_of, new_user


class Command(BaseCommand):
    help = (
        "Give a person a role: in a tenant (--tenant), or on the platform (support, operator). Makes the account when "
        "there is none. Without --password-file a new account has no password: it is set by “forgotten password”."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--role", required=True, help=", ".join(role.name for role in roles.ROLES))
        parser.add_argument("--tenant", metavar="SLUG")
        parser.add_argument("--password-file", metavar="FILE", help="- reads standard input")
        parser.add_argument("--name", default="", help="shown instead of the address")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        role = _role(options["role"])
        tenant = _tenant(role, options["tenant"])
        user = _user(options["email"], options["name"], options["password_file"])
        if tenant is None:
            user.platform_role = role.name
            user.save(update_fields=["platform_role"])
        else:
            with tenant_scope(tenant):
                Staff.objects.update_or_create(
                    tenant=tenant, user=user, defaults={"role": role.name, "is_active": True}
                )
                audit.record(
                    tenant=tenant, by=None, by_label="command line", action="staff.add", target=f"user:{user.pk}",
                    summary=coded_sentence("staff.add", person=name_of(user), role=coded_sentence(f"role.{role.name}")),
                )  # fmt: skip
        self.stdout.write(f"{user.email} is now {role.name}" + (f" of {tenant.slug}." if tenant else "."))


def _role(name: str) -> type[roles.Role]:
    try:
        return roles.find_role(name)
    except KeyError as error:
        raise CommandError(f"{error.args[0]} Nothing was changed.") from error


def _tenant(role: type[roles.Role], slug: str | None) -> Tenant | None:
    if role.is_platform:
        if slug:
            raise CommandError(f"{role.name} is a role of the platform and takes no --tenant. Nothing was changed.")
        return None
    if not slug:
        raise CommandError(f"{role.name} is a role in a tenant: name it with --tenant. Nothing was changed.")
    tenant = Tenant.objects.filter(slug=slug).first()
    if tenant is None:
        raise CommandError(f"There is no tenant {slug!r}. Nothing was changed.")
    return tenant


def _user(email: str, name: str, password_file: str | None) -> User:
    email = email.strip().lower()
    try:
        validate_email(email)
    except ValidationError:
        raise CommandError(f"{email!r} is not an e-mail address. Nothing was changed.") from None
    user = User.objects.filter(email=email).first()
    password = _password(password_file, user or User(email=email, name=name)) if password_file else None
    if user is None:
        return new_user(email=email, name=name, password=password)
    if password is not None:
        user.set_password(password)
    user.name = name or user.name
    user.is_active = True
    user.save()
    EmailAddress.objects.update_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})
    return user


def _password(file: str, user: User) -> str:
    """Return the password in a file. Raises CommandError if the password rules refuse it."""
    password = read_line(file, "--password-file")
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise CommandError(f"The password was refused: {' '.join(error.messages)} Nothing was changed.") from None
    return password

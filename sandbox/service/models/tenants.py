"""Customers of the service, their administrators, and the sandbox's behaviour towards them."""

import secrets

from django.contrib.postgres.fields import ArrayField
from django.db import models


def new_tenant_id() -> str:
    return f"t{secrets.token_hex(8)}"


class Tenant(models.Model):
    """One customer organisation, with its contracts, holidays and webhook settings."""

    tenant_id = models.CharField(primary_key=True, max_length=64, default=new_tenant_id)
    name = models.CharField(max_length=200)
    contracts = ArrayField(models.CharField(max_length=20), default=list)
    licence_key = models.CharField(max_length=80, blank=True)
    holiday = models.JSONField(default=dict)
    webhook = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    #: The time up to which engine.simulation has written passages.
    lived_until = models.DateTimeField(null=True)

    def has_contract(self, contract: str) -> bool:
        """Return whether the tenant has this contract (or `licence`)."""
        return contract in self.contracts


class Administrator(models.Model):
    """A person who may sign in to the tenant's member site.

    The password is readable because the console shows it to people who run the sandbox; it opens nothing else.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="administrators")
    login = models.CharField(max_length=254, unique=True)
    password = models.CharField(max_length=200)
    name = models.CharField(max_length=200, blank=True)


class Settings(models.Model):
    """Changes to the sandbox's behaviour: for all tenants under the empty key, for one under its tenant_id."""

    key = models.CharField(primary_key=True, max_length=64)
    values = models.JSONField(default=dict)

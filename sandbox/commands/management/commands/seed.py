"""Create deterministic tenants: `manage.py seed --tenants N --members M --seed S`."""

import json
from argparse import ArgumentParser

from django.core.management.base import BaseCommand

from sandbox.commands import startup
from sandbox.seeding.tenants import describe
from sandbox.seeding.tenants import seed as make


class Command(BaseCommand):
    help = "Creates tenants with everything in them; prints how to reach each, one JSON per line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenants", type=int, default=3)
        parser.add_argument("--members", type=int, default=200, help="per tenant")
        parser.add_argument("--seed", type=int, default=1)

    def handle(self, *, tenants: int, members: int, seed: int, **options: object) -> None:
        startup.migrate()
        for tenant in make(tenants, members, seed):
            self.stdout.write(json.dumps(describe(tenant), ensure_ascii=False))

"""The number of queries of each page: it must be small, and the same with many members as with few."""

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bench.figures import Figure
from bench.ground import Ground, say
from tenants.models import Tenant

MOST = 12
PAGES = ("", "members/", "members/?q=山田", "members/?group=g07&sort=group_key", "members/m{seed}00000007/",
         "groups/", "groups/g07/", "imports/", "devices/", "connection/", "staff/", "audit/")  # fmt: skip


def pages(ground: Ground) -> list[Figure]:
    """Count the queries of each listed page for the large and the small tenant."""
    say("queries of each page")
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(ground.user)
    found = []
    for page in PAGES:
        large, small = (_count(client, tenant, page) for tenant in (ground.large, ground.small))
        again = ground.sizes.again("queries", members=ground.sizes.members)
        name = "/" + page.format(seed="…")
        found.append(Figure(f"queries, {name}", str(large), f"{small} with few", float(large), ("<=", MOST), again))
        if large > small + 1:  # a query is saved where the first page holds all matches
            found.append(Figure(f"queries, {name}, growth", str(large), str(small), large / small, ("==", 1), again))
    return found


def _count(client: Client, tenant: Tenant, page: str) -> int:
    address = f"/t/{tenant.slug}/" + page.format(seed=f"{tenant.pk % 100:02}")
    client.get(address)
    with CaptureQueriesContext(connection) as counted:
        answer = client.get(address)
        if answer.status_code != 200:
            raise RuntimeError(f"{address}: {answer.status_code}")
    return len(counted)

"""The bells of the desk. Each carries ids; the visit's row decides whether anything is done."""

import structlog
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from portal.guests import cutting
from portal.site.celery import promised
from tenants.scope import across_tenants, tenant_scope

log = structlog.get_logger(__name__)


@promised(queue="interactive", promise="idempotent", seconds=50)
def cut(tenant_id: int, visit_id: int) -> None:
    with tenant_scope(tenant_id):
        cutting.step(visit_id)


@promised(queue="interactive", promise="tick", seconds=20)
def tick() -> None:
    """Ring for every code that must die and is not known to be dead. A broker that is away hears it the next time."""
    with across_tenants("the tick looks for codes of every tenant that must die"):
        due = cutting.due()
    for tenant_id, visit_id in due:
        try:
            cut.apply_async((tenant_id, visit_id), expires=60)
        except (BrokerError, RedisError, OSError) as error:
            log.warning("bell_not_heard", visit_id=visit_id, error=type(error).__name__)
            return

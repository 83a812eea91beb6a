"""Short requests to the broker outside Celery, without retries."""

from typing import Any

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

NO_EVICTION = "noeviction"


def broker_client(seconds: float = 1.0) -> Redis:
    """Return a client with this timeout. Its calls raise RedisError or OSError on failure."""
    return Redis.from_url(settings.REDIS_URL, retry=None, socket_timeout=seconds, socket_connect_timeout=seconds)


def is_broker_available() -> bool:
    """Check whether the broker answers, within a short time."""
    try:
        with broker_client(0.5) as broker:
            return bool(broker.ping())
    except (RedisError, OSError):
        return False


def broker_eviction_policy() -> str:
    """Return what the broker removes when its memory is full. Raises RedisError or OSError if it is not available."""
    with broker_client() as broker:
        answer: Any = broker.info("memory")
    return str(answer.get("maxmemory_policy", NO_EVICTION))

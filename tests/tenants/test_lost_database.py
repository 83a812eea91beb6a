"""A statement gives up on a database that does not answer, and waits for one that is only slow.

Each test takes some seconds, because a statement waits that long before the server is checked.
"""

import time

import psycopg
import pytest
from django.db import connection

from tenants.postgresql.timeouts import (
    CONNECTION_TIMEOUTS,
    PROBE_AFTER_SECONDS,
    PROBE_TIMEOUT_SECONDS,
    ProbingConnection,
)
from tests.support.proxy import TcpProxy


@pytest.fixture
def behind(transactional_db):
    """Connect to the database through a line that can be frozen, without an answer or a closed connection."""
    params = connection.get_connection_params()
    address = {name: params[name] for name in ("dbname", "user", "password") if params.get(name)}
    with TcpProxy(int(params["port"])) as line:
        yield line, address | CONNECTION_TIMEOUTS | {"host": "127.0.0.1", "port": line.port}


def test_a_database_that_stands_still_is_given_up(behind):
    line, address = behind
    with ProbingConnection.connect(**address, autocommit=True) as patient:
        line.frozen.set()
        began = time.monotonic()
        with pytest.raises(psycopg.OperationalError, match="does not answer any more"):
            patient.execute("SELECT 1")
        assert time.monotonic() - began < PROBE_AFTER_SECONDS + PROBE_TIMEOUT_SECONDS + 3
        assert patient.closed


def test_a_long_statement_of_a_living_database_is_waited_for(behind):
    _line, address = behind
    with ProbingConnection.connect(**address, autocommit=True) as patient:
        assert patient.execute("SELECT pg_sleep(%s), 7", (PROBE_AFTER_SECONDS + 0.5,)).fetchone()[1] == 7

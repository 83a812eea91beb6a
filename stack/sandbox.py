"""`make sandbox`: the service's development environment alone, on a database that is forgotten afterwards."""

from stack.paths import PYTHON, ROOT
from stack.processes import must_be_free, spawn, stop
from stack.services import own_databases


def sandbox(*, port: int, tenants: int, members: int, seed: int) -> int:
    """Serves it until it is interrupted; it prepares its database and says where it listens by itself."""
    if port:
        must_be_free(port, "SANDBOX_PORT")
    with own_databases() as (env, _):
        command = [PYTHON, "sandbox/manage.py", "serve", "--port", str(port), "--tenants", str(tenants)]
        child = spawn([*command, "--members", str(members), "--seed", str(seed)], env=env, cwd=ROOT)
        try:
            return child.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            stop(child)

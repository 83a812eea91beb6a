"""`make sandbox`: the sandbox alone, on a database that is deleted afterwards."""

from stack.paths import PYTHON, ROOT
from stack.processes import check_port_is_free, spawn, stop
from stack.services import temporary_databases


def run_sandbox(*, port: int, tenants: int, members: int, seed: int) -> int:
    """Serve the sandbox until interrupted. It prepares its database and prints its address."""
    if port:
        check_port_is_free(port, "SANDBOX_PORT")
    with temporary_databases() as (env, _):
        command = [PYTHON, "sandbox/manage.py", "serve", "--port", str(port), "--tenants", str(tenants)]
        child = spawn([*command, "--members", str(members), "--seed", str(seed)], env=env, cwd=ROOT)
        try:
            return child.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            stop(child)

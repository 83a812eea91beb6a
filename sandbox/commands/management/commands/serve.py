"""Serve the sandbox on the loopback: `manage.py serve --port P --tenants N --members M --seed S`."""

import gc
import os
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.core.wsgi import get_wsgi_application
from gunicorn.app.base import BaseApplication

from accessapi.stack_memory import with_stack_memory
from sandbox.commands import startup
from sandbox.engine import background


class Command(BaseCommand):
    help = "Prepares the database, serves the sandbox with gunicorn and prints where. Port 0 takes a free one."

    # The checks would read the addresses before this command decides about the console.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8100)
        parser.add_argument("--tenants", type=int, default=0, help="to make if they are not there yet")
        parser.add_argument("--members", type=int, default=200, help="of each tenant that is made")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--workers", type=int, default=1, help="processes")
        parser.add_argument("--threads", type=int, default=16, help="per process")
        parser.add_argument("--no-console", action="store_true", help="without the control API")

    def handle(self, **options: Any) -> None:
        settings.CONSOLE = not options["no_console"] and os.environ.get("SANDBOX_CONSOLE") != "0"
        if options["port"]:
            startup.check_port(options["host"], options["port"])
        greeting = startup.prepare(options["tenants"], options["members"], options["seed"])
        Server(_configuration(options, greeting)).run()


class Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn with the sandbox's application and these settings."""

    def __init__(self, configuration: dict[str, Any]) -> None:
        self.configuration = configuration
        super().__init__()

    def load_config(self) -> None:
        for name, value in self.configuration.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        return with_stack_memory(get_wsgi_application())


def _configuration(options: dict[str, Any], greeting: list[str]) -> dict[str, Any]:
    def print_address(server: Any) -> None:
        for listener in server.LISTENERS:
            host, port = listener.getsockname()[:2]
            print(f"Sandbox listens on http://{host}:{port}", flush=True)
            if settings.CONSOLE:
                print(f"Console: http://{host}:{port}/console/", flush=True)
        print(*greeting, sep="\n", flush=True)

    def ready(server: Any) -> None:
        # Loaded objects stay. If the garbage collector visited them, their memory would be copied into each worker.
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)
        print_address(server)

    return {
        "bind": f"{options['host']}:{options['port']}",
        "workers": options["workers"],
        "threads": options["threads"],
        "worker_class": "sandbox.commands.worker.Worker",
        "worker_connections": 1000,
        "keepalive": 75,
        "timeout": 120,
        "graceful_timeout": 2,
        # By default it is in the home directory, one for all instances.
        "control_socket_disable": True,
        "limit_request_line": 8190,
        "loglevel": "warning",
        "when_ready": ready,
        "post_worker_init": background.start,
    }

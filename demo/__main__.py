"""Run the demonstration, or the site's commands on its database: `make demo` and `make manage`."""

import argparse
import sys

from demo.running import manage, run
from stack.processes import begin_as_launcher


def main() -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("run", help="the whole house on this machine")
    command.add_argument("--port", type=int, default=8000)
    command.add_argument("--sandbox-port", type=int, default=8100)
    command.add_argument("--reset", default="", metavar="1", help="start anew instead of continuing")
    command = commands.add_parser("manage", help="manage.py on the database of the demonstration that runs")
    command.add_argument("rest", nargs="*", metavar="-- ARGUMENTS OF MANAGE.PY")
    options = parser.parse_args()
    begin_as_launcher()
    if options.command == "manage":
        return manage(options.rest)
    return run(port=options.port, sandbox_port=options.sandbox_port, reset=options.reset not in ("", "0"))


if __name__ == "__main__":
    sys.exit(main())

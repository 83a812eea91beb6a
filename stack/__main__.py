"""Run a command: `python -m stack COMMAND`. The Makefile shows the usual ones."""

import argparse
import sys
from collections.abc import Callable

from stack import assets, docs, messages
from stack.checks import check, fix
from stack.processes import begin_as_launcher
from stack.services import run, run_sandbox
from stack.testing import KINDS, test


def main() -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m stack", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("services", help="run a command with a database and a broker of its own")
    command.add_argument("--for-tests", action="store_true", help="with the tests' migrated databases")
    command.add_argument("rest", nargs="*", metavar="-- COMMAND")
    command = commands.add_parser("test", help="run the tests with services of their own")
    command.add_argument(
        "--kind",
        choices=KINDS,
        default="",
        help="those of `make test`, `make journeys` or `make promises`, in parallel",
    )
    command.add_argument("rest", nargs="*", metavar="-- ARGUMENTS OF PYTEST")
    command = commands.add_parser("assets", help="fetch the browser's files, compile the translations")
    command.add_argument("--installed", action="store_true", help="node_modules is there already")
    commands.add_parser("check", help="lint, types, import rules, migrations, deployment, translations")
    commands.add_parser("fix", help="repair what the linter and the formatters can")
    commands.add_parser("docs", help="write the documentation that is made from code")
    command = commands.add_parser("messages", help="bring the catalogues of translations up to date")
    command.add_argument("--check", action="store_true", help="change nothing, fail if anything is missing")
    command = commands.add_parser("sandbox", help="the service's development environment alone")
    command.add_argument("--port", type=int, default=8100)
    command.add_argument("--tenants", type=int, default=3)
    command.add_argument("--members", type=int, default=200)
    command.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    begin_as_launcher()
    return _COMMANDS[options.command](options)


def _assets(options: argparse.Namespace) -> int:
    assets.build(install=not options.installed)
    return 0


def _docs(_options: argparse.Namespace) -> int:
    docs.write()
    return 0


def _messages(options: argparse.Namespace) -> int:
    if not options.check:
        messages.update()
        return 0
    wrong = messages.check()
    print("\n".join(wrong) or "Every string has its translations.")
    return 1 if wrong else 0


def _sandbox(options: argparse.Namespace) -> int:
    return run_sandbox(port=options.port, tenants=options.tenants, members=options.members, seed=options.seed)


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "services": lambda options: run(options.rest, for_tests=options.for_tests),
    "test": lambda options: test(options.rest, kind=options.kind),
    "sandbox": _sandbox,
    "assets": _assets,
    "check": lambda _options: check(),
    "fix": lambda _options: fix(),
    "docs": _docs,
    "messages": _messages,
}


if __name__ == "__main__":
    sys.exit(main())

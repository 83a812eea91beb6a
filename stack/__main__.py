"""`python -m stack COMMAND`: see the Makefile for the usual ways to call it."""

import argparse
import os
import signal
import sys
from types import FrameType

from stack.processes import die_with_parent, undertaker


def main() -> int:
    """Runs one command and returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m stack", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    services = commands.add_parser("services", help="run a command with a database and a broker of its own")
    services.add_argument("rest", nargs="*", metavar="-- COMMAND")
    test = commands.add_parser("test", help="run the tests with services of their own")
    test.add_argument("--all", action="store_true", help="all but the long ones, in parallel")
    test.add_argument("rest", nargs="*", metavar="-- ARGUMENTS OF PYTEST")
    assets = commands.add_parser("assets", help="fetch the browser's files, compile the translations")
    assets.add_argument("--installed", action="store_true", help="node_modules is there already")
    commands.add_parser("check", help="lint, types, import rules, migrations, deployment, translations")
    commands.add_parser("docs", help="write the documentation that is made from code")
    messages = commands.add_parser("messages", help="bring the catalogues of translations up to date")
    messages.add_argument("--check", action="store_true", help="change nothing, fail if anything is missing")
    demo = commands.add_parser("demo", help="the whole house on this machine")
    demo.add_argument("--port", type=int, default=8000)
    demo.add_argument("--sandbox-port", type=int, default=8100)
    demo.add_argument("--reset", default="", metavar="1", help="start anew instead of continuing")
    manage = commands.add_parser("manage", help="manage.py on the database of the demonstration that runs")
    manage.add_argument("rest", nargs="*", metavar="-- ARGUMENTS OF MANAGE.PY")
    sandbox = commands.add_parser("sandbox", help="the service's development environment alone")
    sandbox.add_argument("--port", type=int, default=8100)
    sandbox.add_argument("--tenants", type=int, default=3)
    sandbox.add_argument("--members", type=int, default=200)
    sandbox.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    die_with_parent(signal.SIGTERM, os.getppid())
    signal.signal(signal.SIGTERM, _ended)
    signal.signal(signal.SIGHUP, _ended)
    undertaker.start()
    return _COMMANDS[options.command](options)


def _services(options: argparse.Namespace) -> int:
    from stack.services import run

    return run(options.rest)


def _test(options: argparse.Namespace) -> int:
    from stack.testing import test

    return test(options.rest, everything=options.all)


def _assets(options: argparse.Namespace) -> int:
    from stack.assets import make

    make(install=not options.installed)
    return 0


def _check(_options: argparse.Namespace) -> int:
    from stack.checks import check

    return check()


def _docs(_options: argparse.Namespace) -> int:
    from stack import docs

    docs.write()
    return 0


def _messages(options: argparse.Namespace) -> int:
    from stack import messages

    if not options.check:
        messages.update()
        return 0
    wrong = messages.check()
    print("\n".join(wrong) or "Every string has its translations.")
    return 1 if wrong else 0


def _demo(options: argparse.Namespace) -> int:
    from stack.demo import demo

    return demo(port=options.port, sandbox_port=options.sandbox_port, reset=options.reset not in ("", "0"))


def _manage(options: argparse.Namespace) -> int:
    from stack.demo_manage import manage

    return manage(options.rest)


def _sandbox(options: argparse.Namespace) -> int:
    from stack.sandbox import sandbox

    return sandbox(port=options.port, tenants=options.tenants, members=options.members, seed=options.seed)


# Each imports what it needs, so that one command does not wait for the packages of another.
_COMMANDS = {
    "services": _services,
    "test": _test,
    "demo": _demo,
    "manage": _manage,
    "sandbox": _sandbox,
    "assets": _assets,
    "check": _check,
    "docs": _docs,
    "messages": _messages,
}


def _ended(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())

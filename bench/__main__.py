"""Run `make bench [ARGS="--quick"]`: measure everything, or only what `--only` names, and print one table."""

import argparse
import contextlib
import os
import sys
import tempfile
import time
import traceback
from dataclasses import fields
from pathlib import Path

QUICK = {"members": 5_000, "small": 500, "tenants": 5, "requests": 15, "rows": 3_000, "beside_rows": 200,
         "import_rows": 300, "sync_members": 3_000, "guests": 1_000, "histories": 3_000, "clicks": 8, "due": 200,
         "pages": 40, "seconds": 6, "records": 20_000, "small_records": 5_000,
         "entries": 40_000, "small_entries": 20_000,
         "sandbox_tenants": 3, "sandbox_members": 5_000}  # fmt: skip


def main() -> int:
    os.environ["DJANGO_SETTINGS_MODULE"] = "bench.settings"
    import django

    django.setup()
    from bench import (
        alerts,
        areas,
        audits,
        doors,
        evidence,
        exports,
        firstframe,
        hooks,
        idle,
        imports,
        live,
        logs,
        pages,
        parts,
        queries,
        reports,
        sandbox,
        syncs,
        ticks,
        trickle,
        watched,
    )
    from bench.figures import Figure, table
    from bench.ground import Sizes, ground

    measures = {
        "list": pages.lists,
        "search": pages.searches,
        "growth": pages.growth,
        "areas": areas.pages,
        "deep": pages.deep,
        "queries": queries.pages,
        "load": pages.load,
        "processor": pages.processor,
        "parts": parts.parts,
        "live": live.pages,
        "log": logs.statements,
        "logpages": logs.pages,
        "audit": audits.statements,
        "export": exports.workbook,
        "yearreport": reports.year,
        "dryrun": imports.dry_run,
        "sync": syncs.full,
        "desk": syncs.desk,
        "trickle": trickle.waiting,
        "import": imports.calls,
        "unlock": doors.unlock,
        "outcome": doors.outcome,
        "webhooks": hooks.answers,
        "screen": hooks.screen,
        "calls": hooks.calls,
        "alerts": alerts.delivery_times,
        "board": watched.board,
        "boardcalls": watched.board_calls,
        "rollcall": watched.roll_call,
        "wall": evidence.wall,
        "evidence": evidence.incident,
        "firstframe": firstframe.clicked,
        "tick": ticks.tick,
        "watch": ticks.watch,
        "idle": idle.idle,
        "sandbox": sandbox.scale,
    }
    of_lists = {
        "list",
        "search",
        "growth",
        "areas",
        "deep",
        "queries",
        "load",
        "processor",
        "parts",
        "dryrun",
        "live",
        "log",
        "logpages",
        "audit",
        "yearreport",
    }
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--only", default="", help=f"names separated by commas: {', '.join(measures)}")
    parser.add_argument("--quick", action="store_true", help="small sizes: to see that everything works")
    for each in fields(Sizes):
        parser.add_argument(f"--{each.name.replace('_', '-')}", type=int, metavar="N", help=f"default {each.default:,}")
    given = vars(parser.parse_args())
    names = [name for name in given["only"].split(",") if name] or list(measures)
    if unknown := set(names) - set(measures):
        parser.error(f"there is no measure called {', '.join(sorted(unknown))}")
    defaults = QUICK if given["quick"] else {}
    named = {each.name: given[each.name] for each in fields(Sizes) if given[each.name] is not None}
    figures, started = [], time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ground(Sizes(**(defaults | named)), Path(folder)) as where:
        if of_lists & set(names):
            where.furnish_lists()
        for name in names:
            alone = name in of_lists | {"sync", "desk", "tick", "sandbox"}
            quiet = where.house.quiet() if alone else contextlib.nullcontext()
            try:
                with quiet:
                    figures += measures[name](where)
            except Exception as error:
                traceback.print_exc()
                figures.append(Figure(name, "", note=f"broke: {error}"[:300], reach=("==", 0)))
    print(f"\n{table(figures)}\n\n{time.monotonic() - started:.0f} s on {os.cpu_count()} processors")
    return 1 if any(figure.met == "MISSED" or figure.note.startswith("broke") for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())

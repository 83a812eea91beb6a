"""Print generated documentation.

`python -m accessapi` prints the table of operations as Markdown, `python -m accessapi openapi` the OpenAPI document
(with `--operations FILE` under an overrides file, with `--server URL` for a base address).
"""

import argparse
import json
from pathlib import Path

from accessapi.openapi import build_document
from accessapi.operations import OPERATIONS
from accessapi.overrides import Catalogue, load_overrides


def operations_table() -> str:
    """Return the table as Markdown, a row for each operation: number, title, address, needs, delivery, provenance."""
    lines = [
        "| # | Operation | Method and path | Needs | Calls | Delivery | Method and path are |",
        "|--|--|--|--|--|--|--|",
    ]
    for row in OPERATIONS:
        needs = [row.scope, row.contract and f"contract {row.contract}", "licence" if row.needs_licence else None]
        needed = ", ".join(filter(None, needs)) or "–"
        lines.append(
            f"| {row.number} | {row.title} (`{row.name}`) | `{row.method} {row.path}` | {needed} |"
            f" {row.call_class} | {row.delivery} | {row.provenance} |"
        )
    return "\n".join(lines)


def openapi(catalogue: Catalogue | None = None, servers: tuple[str, ...] = ()) -> str:
    """Return the OpenAPI document as text."""
    return json.dumps(build_document(catalogue, servers), ensure_ascii=False, indent=2)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m accessapi", description=__doc__)
    parser.add_argument("what", nargs="?", choices=["table", "openapi"], default="table")
    parser.add_argument("--operations", type=Path, help="an overrides file (TOML)")
    parser.add_argument("--server", action="append", default=[], help="a base address of the service")
    options = parser.parse_args()
    if options.what == "table":
        print(operations_table())
    else:
        print(openapi(Catalogue(load_overrides(options.operations)), tuple(options.server)))


if __name__ == "__main__":
    main()

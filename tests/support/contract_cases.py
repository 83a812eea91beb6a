"""Print the contract suite's sentences about each operation as JSON: `python -m tests.support.contract_cases`."""

import json

from tests.contract.registry import load

if __name__ == "__main__":
    found: dict[str, list[str]] = {}
    for case in load():
        found.setdefault(case.operation, []).append(case.sentence)
    print(json.dumps(found, ensure_ascii=False))

"""Check that quick tests notice each of many single changes that break a promise (`make mutants`).

It needs services: `python -m stack services -- python -m tests.mutants [--only WORDS] [--workers N]`.
"""

import argparse
import os
import queue
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.mutants.entry import Mutant
from tests.mutants.kept import MUTANTS
from tests.mutants.workshop import Trial, Workshop


def main() -> int:
    """Try all changes and print the results; return 0 when every change was noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", default="", metavar="WORDS", help="those with all these words in name or file")
    parser.add_argument("--workers", type=int, default=min(os.cpu_count() or 1, 4))
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if _is_meant(mutant, options.only)]
    if not chosen:
        print("No change of the list is meant by these words.")
        return 2
    began = time.monotonic()
    trials = _tried(chosen, max(1, min(options.workers, len(chosen))))
    return _summary(trials, len(chosen), time.monotonic() - began)


def _is_meant(mutant: Mutant, words: str) -> bool:
    told = f"{mutant.name} {mutant.file}".lower()
    return all(word in told for word in words.lower().split())


def _tried(chosen: Sequence[Mutant], workers: int) -> list[Trial]:
    """Try every change, spread over `workers` copies. Changes whose tests fail without them are left out."""
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for mutant in chosen:
        waiting.put(mutant)
    compared = threading.Barrier(workers)
    red: set[str] = set()

    def work(number: int) -> list[Trial]:
        mine = sorted({test for mutant in chosen for test in mutant.tests})[number::workers]
        try:
            with Workshop(number) as shop:
                red.update(shop.red(mine))
                compared.wait()
                return list(_each(shop, waiting, red))
        except BaseException:
            compared.abort()  # do not wait for a killed worker
            raise

    with ThreadPoolExecutor(workers) as pool:
        return [trial for trials in pool.map(work, range(workers)) for trial in trials]


def _each(shop: Workshop, waiting: "queue.SimpleQueue[Mutant]", red: set[str]) -> Iterator[Trial]:
    while True:
        try:
            mutant = waiting.get_nowait()
        except queue.Empty:
            return
        bare = [test.partition("[")[0] for test in mutant.tests]
        fails = {each for each in red if any(f"{each}::".startswith(f"{test}::") for test in bare)}
        trial = Trial(mutant, "broken", 0, f"red without it: {fails}") if fails else shop.try_out(mutant)
        print(f"{trial.outcome:8} {trial.seconds:5.1f} s  {mutant.file}: {mutant.name}", flush=True)
        yield trial


def _summary(trials: Sequence[Trial], meant: int, seconds: float) -> int:
    count = {each: sum(trial.outcome == each for trial in trials) for each in ("killed", "survived", "broken")}
    for trial in trials:
        if trial.outcome == "broken":
            print(f"\nBroken: {trial.mutant.file}: {trial.mutant.name}\n{trial.said}")
    told = ", ".join(f"{number} {outcome}" for outcome, number in count.items())
    print(f"\n{meant} changes: {told}, in {seconds:.0f} s.")
    return 0 if count["killed"] == meant else 1


if __name__ == "__main__":
    sys.exit(main())

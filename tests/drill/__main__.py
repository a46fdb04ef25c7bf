"""`python -m tests.drill`: how many random faults the mirrored tests notice, and which they do not.

Each fault is put into one pure or engine module of a copy of the tree, where only that module's own
test is run: what another test would notice counts as not noticed. The same seed on the same tree has
the same faults and the same examples of properties.
"""

import argparse
import contextlib
import importlib
import itertools
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import pytest

from tests.drill.faults import Fault, faults, faulty
from tests.house.kinds import Kind, kinds
from tests.house.test_mirrored_tests import mirror, own_tests
from tests.house.tree import COMPONENTS, Module, ours

AIM = 0.9
PRELOADED = ("aiohttp.web", "alembic", "hypothesis.strategies", "msgspec", "numpy", "sqlalchemy")
"""Imported once, before each test is run in a fork of this process."""
PATIENCE_S = 120.0
"""A module that hangs with a fault in it has been noticed."""


@dataclass(frozen=True, slots=True)
class Planted:
    module: Module
    number: int
    fault: Fault

    def __str__(self) -> str:
        return f"{self.module.path}:{self.fault.line}: {self.fault.what}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.drill", description=__doc__)
    parser.add_argument("--faults", type=int, default=257, help="how many to try")
    parser.add_argument("--seed", type=int, default=11, help="which ones: others with another")
    parser.add_argument("--under", default="", help="only in modules whose name begins so")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at a time")
    arguments = parser.parse_args()
    possible = list(_possible(arguments.under))
    dice = random.Random(arguments.seed)
    chosen = dice.sample(possible, min(arguments.faults, len(possible)))
    print(f"{len(chosen)} of {len(possible)} possible faults, seed {arguments.seed}", flush=True)
    began = time.monotonic()
    for package in PRELOADED:
        importlib.import_module(package)
    with _copies(arguments.jobs) as copies, ThreadPoolExecutor(arguments.jobs) as workers:
        tests = sorted({test for one in chosen for test in own_tests(one.module, ours())})
        if not _pass(tests, copies):
            print("these tests fail without any fault:", *tests, file=sys.stderr)
            return 1
        noticed = sum(workers.map(lambda one: _noticed(one, copies), chosen))
    share, took = noticed / len(chosen), time.monotonic() - began
    print(f"noticed {noticed} of {len(chosen)}: {share:.1%}, in {took:.0f} s; the aim is {AIM:.0%}")
    return 0 if share >= AIM else 1


def _possible(under: str) -> Iterator[Planted]:
    kind_of = kinds(ours())
    for module in ours().modules:
        tested = (ours().root / mirror(module)).is_file()
        if tested and kind_of[module.name] is not Kind.EDGE and module.name.startswith(under):
            for number, fault in enumerate(faults(module.syntax)):
                yield Planted(module, number, fault)


Copies = SimpleQueue[Path]


@contextlib.contextmanager
def _copies(number: int) -> Iterator[Copies]:
    with tempfile.TemporaryDirectory(prefix="nemutator-drill-") as root:
        free = Copies()
        for name in range(number):
            for path in ours().files:
                if path.parts[0] in {
                    *COMPONENTS,
                    "pyproject.toml",
                    "scripts",
                    "tests",
                    "docs",
                    "deploy",
                }:
                    target = Path(root, str(name)) / path
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(ours().root / path, target)
            free.put(Path(root, str(name)))
        yield free


def _noticed(planted: Planted, copies: Copies) -> bool:
    module = planted.module
    copy = copies.get()
    try:
        _write(copy / module.path, faulty(module.text, planted.number))
        noticed = not _passes(copy, own_tests(module, ours()))
    finally:
        _write(copy / module.path, module.text)
        copies.put(copy)
    if not noticed:
        print(planted, flush=True)
    return noticed


def _pass(tests: list[Path], copies: Copies) -> bool:
    copy = copies.get()
    try:
        return _passes(copy, tests)
    finally:
        copies.put(copy)


def _passes(copy: Path, tests: list[Path]) -> bool:
    """Whether *tests* do, in a fork of ours: it has imported what takes longer than most of them."""
    child = multiprocessing.get_context("fork").Process(target=_test, args=(copy, tests))
    child.start()
    child.join(PATIENCE_S * len(tests))
    assert child.pid is not None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)  # with all that a broken test has left running
    child.join()
    return child.exitcode == 0


_moments = itertools.count(int(time.time()))


def _write(path: Path, text: str) -> None:
    """With a time of its own: by that and the size Python knows whether its bytecode is current."""
    path.write_text(text)
    os.utime(path, (moment := next(_moments), moment))


def _test(copy: Path, tests: list[Path]) -> None:
    """Run *tests* in *copy* and exit with pytest's code; nothing of our own tree may be in its way."""
    os.chdir(copy)
    os.setsid()
    os.environ["CI"] = "true"  # the same examples each time
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    root = str(ours().root)
    sys.path[:] = [str(copy), *(path for path in sys.path if path not in {"", root})]
    for name in [name for name in sys.modules if name.split(".")[0] == "tests"]:
        del sys.modules[name]
    preloaded = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    alone = ["-p", "no:cacheprovider", "-p", "no:xdist"]
    os._exit(pytest.main(["-q", "-x", *alone, *preloaded, *map(str, tests)]))


if __name__ == "__main__":
    sys.exit(main())

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
from tests.house.test_mirrored_tests import mirror
from tests.house.tree import COMPONENTS, Module, ours

AIM = 0.9
PRELOADED = ("aiohttp.web", "alembic", "hypothesis.strategies", "msgspec", "numpy", "sqlalchemy")
"""Imported once, before each test is run in a fork of this process."""
PATIENCE_S = 300.0
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
        sound = set(workers.map(lambda one: _sound(one, copies), {one.module for one in chosen}))
        tried = [one for one in chosen if one.module in sound]
        survived = [one for one in workers.map(lambda one: _survives(one, copies), tried) if one]
    print(*sorted(map(str, survived)), sep="\n")
    share = 1 - len(survived) / max(1, len(tried))
    noticed = len(tried) - len(survived)
    took = time.monotonic() - began
    print(f"noticed {noticed} of {len(tried)}: {share:.1%}, in {took:.0f} s; the aim is {AIM:.0%}")
    return 0 if tried == chosen and share >= AIM else 1


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


def _sound(module: Module, copies: Copies) -> Module | None:
    """*module*, if its test passes as long as nothing is wrong with it."""
    if _passes(module, module.text, copies):
        return module
    print(f"{mirror(module)}: fails without any fault", flush=True)
    return None


def _survives(planted: Planted, copies: Copies) -> Planted | None:
    passes = _passes(planted.module, faulty(planted.module.text, planted.number), copies)
    print("." if not passes else "S", end="", flush=True)
    return planted if passes else None


def _passes(module: Module, text: str, copies: Copies) -> bool:
    """Whether the mirrored test does, with this *text* of *module*."""
    copy = copies.get()
    try:
        _write(copy / module.path, text)
        # A fork of ours has imported pytest already, which takes longer than most tests.
        child = multiprocessing.get_context("fork").Process(
            target=_test, args=(copy, mirror(module))
        )
        child.start()
        child.join(PATIENCE_S)
        if child.is_alive():
            child.kill()
            child.join()
        return child.exitcode == 0
    finally:
        _write(copy / module.path, module.text)
        copies.put(copy)


_moments = itertools.count(int(time.time()))


def _write(path: Path, text: str) -> None:
    """With a time of its own: by that and the size Python knows whether its bytecode is current."""
    path.write_text(text)
    os.utime(path, (moment := next(_moments), moment))


def _test(copy: Path, test: Path) -> None:
    """Run *test* in *copy* and exit with pytest's code; nothing of our own tree may be in its way."""
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
    os._exit(pytest.main(["-q", "-x", *alone, *preloaded, str(test)]))


if __name__ == "__main__":
    sys.exit(main())

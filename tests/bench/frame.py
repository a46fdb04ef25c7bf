"""The frame of every bench: what was measured, beside which peers, and which aims were met.

`make bench NAME=cli-start` runs `tests/bench/cli_start.py`, whose `bench() -> Result` does the work;
its last line of output is one JSON object. A bench that is run and misses an aim ends well: it has
told what it found.
"""

import importlib
import json
import operator
import os
import platform
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True, slots=True)
class Aim:
    """One aim of an issue; *met* is None when it could not be measured, and *reason* says why."""

    what: str
    value: float | None
    op: str
    aim: float
    met: bool | None
    reason: str = ""


def aim(what: str, value: float | None, op: str, wanted: float, *, reason: str = "") -> Aim:
    """An aim with its verdict; without a *value* there must be a *reason*."""
    if value is None and not reason:
        raise ValueError(f"{what}: say why it was not measured")
    met = None if value is None else _COMPARE[op](value, wanted)
    return Aim(what, value, op, wanted, met, reason)


@dataclass(frozen=True, slots=True)
class Result:
    measured: Mapping[str, object]
    aims: tuple[Aim, ...]
    peers: Mapping[str, object] = field(default_factory=dict)


def line(name: str, result: Result, machine: Mapping[str, object]) -> str:
    """The closing line. Aims without a reason do not carry an empty one."""
    aims = [{k: v for k, v in asdict(each).items() if v != ""} for each in result.aims]
    return json.dumps(
        {
            "bench": name,
            "machine": machine,
            "measured": result.measured,
            "peers": result.peers,
            "aims": aims,
        }
    )


def this_machine() -> Mapping[str, object]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
        "memory_bytes": memory,
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def _cpu_model() -> str:
    for row in Path("/proc/cpuinfo").read_text().splitlines():
        if row.startswith("model name"):
            return row.partition(":")[2].strip()
    return platform.machine()


def known(directory: Path) -> dict[str, str]:
    """The benches in *directory*: by name, the module of each."""
    return {
        path.stem.replace("_", "-"): path.stem
        for path in sorted(directory.glob("*.py"))
        if re.search(r"^def bench\(\) -> Result:", path.read_text(), re.MULTILINE)
    }


def main(arguments: list[str]) -> int:
    benches = known(Path(__file__).parent)
    if len(arguments) != 1 or arguments[0] not in benches:
        names = ", ".join(benches) or "none yet"
        sys.stderr.write(f"make bench NAME=…: one of: {names}\n")
        return 2
    (name,) = arguments
    result = importlib.import_module(f"tests.bench.{benches[name]}").bench()
    sys.stdout.write(line(name, result, this_machine()) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

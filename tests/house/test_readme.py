"""What the README promises of a first start, with programs in the place of the machine's own."""

import contextlib
import itertools
import math
import os
import random
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.settings.observe import ObserveSettings
from nemutator_agent.usage.summaries import Summaries
from nemutator_agent.windows.heap_reading import CHECK_S
from nemutator_controller.ageing.growth import judge
from nemutator_controller.ageing.trends import SeriesPoint
from nemutator_controller.ageing.verdicts import MEMORY
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.recommendation import recommend
from nemutator_controller.sizing.usages import Usages

from tests.fakes.sizing import learn
from tests.fakes.snapshots import group, process, snapshot
from tests.house.tree import REPOSITORY

MAKES_GO = """
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/go/bin" && cp "${0%/*}/../../locked-go" "$2/go/bin/go"
"""
"""What pip does with the locked Go, for `.venv/bin/python -m pip install`."""


def program(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine that has the programs in *folder* before all others."""

    folder: Path

    def has(self, name: str, body: str) -> Path:
        return program(self.folder / name, body)

    def run(
        self, *command: str | Path, stdin: int = subprocess.DEVNULL, stderr: int = subprocess.PIPE
    ) -> "subprocess.CompletedProcess[str]":
        environment = {"PATH": f"{self.folder}:/usr/bin:/bin", "HOME": str(self.folder)}
        return subprocess.run(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, text=True, timeout=60,
            check=False, env=environment,
        )  # fmt: skip

    @property
    def installed(self) -> bool:
        return (self.folder / "called").exists()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path / "bin")
    for installer in ("apt-get", "sudo"):
        machine.has(installer, 'echo "$0 $*" >>"${0%/*}/called"')
    machine.has("curl", "")
    return machine


# --- "`make run` says what is missing and asks before it installs anything" ----------------------
PREREQUISITES = REPOSITORY / "scripts/prerequisites"


def test_nothing_is_said_where_nothing_is_missing(machine: Machine) -> None:
    ran = machine.run(PREREQUISITES, "run", machine.has("python", ""))
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_what_is_missing_is_said_and_not_installed_where_nobody_can_be_asked(
    machine: Machine,
) -> None:
    ran = machine.run(PREREQUISITES, "run", machine.has("python", "exit 1"))
    assert ran.returncode == 1
    assert "missing: python3-venv: makes .venv" in ran.stderr
    assert "missing: libbpf1: profiles by eBPF are not possible without it" in ran.stderr
    assert "remedy: ASSUME_YES=1 " in ran.stderr
    assert not machine.installed


def test_what_can_be_done_without_does_not_stop_the_start(machine: Machine) -> None:
    ran = machine.run(PREREQUISITES, "run", machine.has("python", '[ "$2" = "${2#*libbpf}" ]'))
    assert ran.returncode == 0
    assert "missing: libbpf1" in ran.stderr
    assert "python3-venv" not in ran.stderr
    assert not machine.installed


def everything(terminal: int) -> str:
    """What was written to a terminal whose other end nobody has any more."""
    said = b""
    with contextlib.suppress(OSError):  # EIO is its end
        while more := os.read(terminal, 65536):
            said += more
    return said.decode()


def test_a_person_is_asked_before_anything_is_installed(machine: Machine) -> None:
    person, terminal = os.openpty()
    try:
        os.write(person, b"\n")
        python = machine.has("python", "exit 1")
        ran = machine.run(PREREQUISITES, "run", python, stdin=terminal, stderr=terminal)
        os.close(terminal)
        said = everything(person)
    finally:
        os.close(person)
    assert "Install python3-venv libbpf1" in said
    assert " now? [y/N]" in said
    assert ran.returncode == 1
    assert not machine.installed


# --- "Go: the machine's own, 1.21 or newer, or a locked one" -------------------------------------
def go(version: str, name: str) -> str:
    """A Go that says *version*, and builds a program that says who has built it."""
    return f"""
        [ "$1" != env ] || {{ echo {version} && exit; }}
        while [ "$1" != -o ]; do shift; done
        printf '#!/bin/sh\\necho built by {name}\\n' >"$2" && chmod 755 "$2"
    """


@dataclass(frozen=True, slots=True)
class Clone:
    machine: Machine
    root: Path

    def sample(self) -> "subprocess.CompletedProcess[str]":
        return self.machine.run(self.root / "scripts/sample")


@pytest.fixture
def clone(machine: Machine, tmp_path: Path) -> Clone:
    root = tmp_path / "clone"
    (root / "deploy/sample").mkdir(parents=True)
    script = program(root / "scripts/sample", "")
    # A Go that this machine has beside its PATH is hidden.
    text = (REPOSITORY / "scripts/sample").read_text()
    script.write_text(text.replace(" /usr/l", f" {root}/usr/l"))
    program(root / "locked-go", go("go1.26.8", "the locked one"))
    program(root / ".venv/bin/python", MAKES_GO)
    return Clone(machine, root)


@pytest.mark.parametrize("version", ["go1.21", "go1.21.13", "go1.26rc1"])
def test_the_machines_own_go_builds_the_sample(clone: Clone, version: str) -> None:
    clone.machine.has("go", go(version, "its own"))
    assert clone.sample().stdout == "built by its own\n"
    assert not (clone.root / ".build/go").exists(), "nothing is fetched"


@pytest.mark.parametrize("version", ["go1.20.14", "go1.9", "devel"])
def test_with_an_older_one_a_locked_go_is_fetched_into_build(clone: Clone, version: str) -> None:
    clone.machine.has("go", go(version, "its own"))
    ran = clone.sample()
    assert ran.stdout == "built by the locked one\n"
    assert "no Go 1.21 or newer: installing one into .build/go" in ran.stderr
    assert clone.sample().stderr == "", "once"


def test_without_any_go_the_sample_says_so_and_is_not_tried_again(clone: Clone) -> None:
    clone.machine.has("go", "exit 1")
    program(clone.root / ".venv/bin/python", "exit 1")
    ran = clone.sample()
    assert ran.returncode == 3
    assert "remedy: install Go" in ran.stderr


# --- "That `shop` leaks is reported three to four minutes after it was built and started" --------
def told_after(luck: random.Random) -> float:
    """How old the sample is when its leak is told of, as `make run` has it read; its heap is what Go recorded of it."""
    makefile = (REPOSITORY / "Makefile").read_text()

    def minutes(setting: str) -> float:
        (found,) = re.findall(rf"{setting}=\$\$\{{{setting}:-(\d+)\}}", makefile)
        return float(found)

    every_s = minutes("NEMUTATOR_OBSERVE_WINDOW_EVERY_S")
    piece, recorded_of, rounds_per_s = 16 << 10, 64 << 10, 5
    chance = 1 - math.exp(-piece / recorded_of)
    read: list[SeriesPoint] = []
    heap, last = 1e6, 0.0
    due = minutes("NEMUTATOR_OBSERVE_WINDOW_AGE_S") + luck.random() * every_s
    for at in (due + number * every_s + luck.random() * CHECK_S for number in range(30)):
        heap += sum(luck.random() < chance for _ in range(int((at - last) * rounds_per_s))) * (
            piece / chance
        )
        last = at
        read.append(SeriesPoint(at, heap))
        judged = judge([read], MEMORY, after_s=minutes("NEMUTATOR_BRAIN_AGEING_AFTER_S"))
        if judged.growth == "grows provisionally":
            return at
    raise AssertionError("it was never told of")


def test_the_leak_of_the_sample_is_told_of_within_minutes_whatever_go_has_recorded_of_it() -> None:
    assert max(told_after(random.Random(seed)) for seed in range(40)) < 150


# --- "Advice takes two minutes to its first value" -----------------------------------------------
def test_advice_has_its_first_value_after_two_minutes_with_default_settings() -> None:
    settings = ObserveSettings()
    summing, usages = Summaries(every_s=settings.summary_s), Usages(most=1)
    shop, key = ProcessId(7, 0), ContainerKey("vm", "Program", "shop", "shop")
    values: list[float] = []
    every_s = settings.snapshot_every_s
    for at in itertools.takewhile(lambda at: at < 200.0, itertools.count(0.0, every_s)):
        processes = {shop: process("/vm", cpu_ticks=int(at * 50), command=b"shop")}
        seen = snapshot(at, groups={"/vm": group(None)}, processes=processes)
        summaries = summing.add(seen, ticks_per_s=100)
        learn(usages, [(key, one) for one in summaries], now=seen.at)
        known = usages.columns([key], now=seen.at)
        values += [at for state in recommend(known, now=seen.at).states if state != "not_yet"]
    assert 100 <= values[0] <= 140

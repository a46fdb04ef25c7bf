"""bcc as the engine, where no BTF is to be seen: it is hidden, as each of Debian's kernels has it.

bcc, and headers of exactly the kernel that runs, lie where their packages have them.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import functions

from tests.e2e.machine import on_any_kernel
from tests.e2e.machine.commands import YOURS, start_unit, start_up
from tests.testbed.building import made
from tests.testbed.building.cache import MissingPartError
from tests.testbed.fixtures import StartMachine
from tests.testbed.parts.machine.machine import Machine

pytestmark = pytest.mark.timeout(7200)

DISK = "/opt/bcc"
LIBRARIES = "lib/x86_64-linux-gnu"
MODULES = "lib/python3/dist-packages"
COMPILER = "lib/llvm-14"

COMPILED_S = 3600.0
"""For all sessions of one suite: each compiles, which is a minute of an emulated CPU's time."""

Findings = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class WithoutBtf:
    guest: Machine
    before: Findings
    """What `doctor` said while bcc was not there."""


@pytest.fixture(scope="module")
def hidden(machine: StartMachine) -> Iterator[WithoutBtf]:
    try:
        disk = made.guest_bcc()
    except MissingPartError as missing:
        pytest.skip(str(missing))
    with machine(kernel="6.1", headers=True) as guest:
        guest.run("mount", "-t", "tmpfs", "-o", "ro", "none", "/sys/kernel/btf")
        before = findings(guest)
        guest.run("mkdir", DISK)
        guest.run("mount", "-o", "ro", guest.attach(disk), DISK)
        # Some packages still have them in /lib, which is a link there.
        for folder, places in {LIBRARIES: ("", "/usr"), MODULES: ("/usr",)}.items():
            layers = ":".join([*(f"{DISK}{place}/{folder}" for place in places), f"/usr/{folder}"])
            guest.run(
                "mount", "-t", "overlay", "-o", f"lowerdir={layers}", "none", f"/usr/{folder}"
            )
        guest.run("ln", "-s", f"{DISK}/usr/{COMPILER}", f"/usr/{COMPILER}")
        yield WithoutBtf(guest, before)


def findings(guest: Machine) -> Findings:
    found = json.loads(guest.run("nemutator", "doctor", "-o", "json"))["findings"]
    return {finding["check"]: finding for finding in found}


def test_doctor_names_the_engine_and_why_and_what_lacks_for_one(hidden: WithoutBtf) -> None:
    without, found = hidden.before["sampling engine"], findings(hidden.guest)
    assert without["state"] != "ok"
    assert without["found"] == "none: no BTF for libbpf, and no python3-bpfcc for bcc"
    assert found["sampling engine"]["found"].startswith("bcc, because the kernel has no BTF")
    assert {name for name, one in found.items() if one["state"] != "ok"} == set()


def test_it_promises_what_each_sampler_does(hidden: WithoutBtf) -> None:
    skipped = on_any_kernel.passes(
        hidden.guest,
        *("tests/contract/profiler/test_samplers.py", "tests/contract/profiler/test_bcc.py"),
        *("-m 'drill or e2e'", "-k 'not libbpf'"),
        within_s=COMPILED_S,
    )
    assert skipped == []


def test_time_off_the_cpu_is_taken_by_it_too(hidden: WithoutBtf) -> None:
    tests = "tests/contract/profiler/test_off_cpu.py"
    on_any_kernel.passes(hidden.guest, tests, "-m e2e", within_s=COMPILED_S)


def test_a_go_program_is_named_and_its_profile_graded(hidden: WithoutBtf) -> None:
    guest = hidden.guest
    start_up(guest, "up", YOURS)
    start_unit(guest, "shop", "/opt/nemutator/shop")
    pid = guest.run("systemctl", "show", "--property=MainPID", "--value", "shop").strip()
    said = guest.run(
        *("nemutator", "profile", f"pid:{pid}", YOURS, "--seconds=30", "--output=/tmp/shop.pb.gz"),
        within_s=COMPILED_S,
    )
    assert "  grade: " in said
    profile = pprof.decode(base64.b64decode(guest.run("base64", "/tmp/shop.pb.gz")))
    assert profile.grade is not None
    # SHA-256 by AVX2, which this processor has in place of its own instruction, uses the frame pointer for
    # something else; and callers of leaves that the kernel works for are not to be had.
    assert set(profile.grade.broken) <= {"unnamed"}
    assert (profile.grade.real_share or 0) >= 0.9
    assert {"main.main", "main.serveVisitors"} <= {one.function for one in functions(profile)}

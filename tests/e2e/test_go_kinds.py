"""The gate of stacks: programs of every kind, whose profiles must prove themselves.

A grade does not depend on how busy the machine is. How far a profile of a few seconds is from that of
Go's own runtime does, so that is only held to a bound that no chance passes; `make bench NAME=profiles`
measures it.
"""

from pathlib import Path

import pytest
from nemutator_common.profiles.grade import breaks, sentence

from tests.contract.profiler.busy import AGREES
from tests.e2e.go_kinds import KINDS, profiled, running

pytestmark = pytest.mark.e2e

CPU_S = 2.0
FAR = 0.25
"""Lost callers were 31 to 93 points off in such programs."""


@pytest.mark.parametrize("kind", KINDS)
async def test_the_stacks_of_a_program_of_each_kind_prove_themselves(
    kind: str, tmp_path: Path
) -> None:
    with running(kind, tmp_path) as program:
        both = await profiled(program, cpu_seconds=CPU_S)
    ours, grade = both.ours, both.ours.grade
    assert grade is not None
    lost = sum(ours.lost.values())
    print(f"{kind}: {sentence(grade, recorded=ours.recorded, lost=lost)}; {breaks(grade)}")
    print(f"beside Go's own: {list(both.differences().items())[:5]}")
    assert grade.stacks == ours.recorded
    assert lost == 0
    assert ours.cpu_seconds is not None
    assert abs(ours.sampled_cpu_seconds / ours.cpu_seconds - 1) < AGREES
    assert grade.real_share is not None
    assert grade.real_share >= 0.995
    assert grade.calls.get("unread", 0) <= 0.01 * grade.checked
    assert grade.rooted_share is not None
    if kind == "cgo":
        # C without frame pointers loses what called it; its goroutine is put beneath it, and the break
        # is counted.
        assert set(grade.broken) <= {"cgo"}
    else:
        assert grade.rooted_share >= 0.99
    assert both.difference < FAR

from typing import get_args

import pytest
from nemutator_agent.inspection.failures import (
    FileSystemStuckError,
    HiddenFileError,
    KernelThreadError,
    ProcessGoneError,
    WorkerFailedError,
)
from nemutator_agent.profiler.heap import flaws
from nemutator_agent.profiler.heap.messages import (
    MemoryAnswer,
    MemoryFlaw,
    ProgramAnswer,
    ProgramFlaw,
)

NAME = "shop (pid 7)"


@pytest.mark.parametrize("flaw", [one for one in get_args(ProgramFlaw) if one])
def test_every_flaw_of_a_program_is_told_with_a_remedy(flaw: ProgramFlaw) -> None:
    refusal = flaws.of_program(ProgramAnswer(flaw=flaw, version="Go 1.15 or older"), NAME)
    assert refusal is not None
    assert refusal.reason == "heap"
    assert NAME in refusal.what
    assert refusal.remedy


@pytest.mark.parametrize("is_linked", [True, False])
@pytest.mark.parametrize("flaw", [one for one in get_args(MemoryFlaw) if one])
def test_every_flaw_of_a_memory_is_told_with_a_remedy(flaw: MemoryFlaw, is_linked: bool) -> None:
    refusal = flaws.of_memory(MemoryAnswer(flaw=flaw, what="w"), NAME, is_linked=is_linked)
    assert refusal is not None
    assert NAME in refusal.what
    assert refusal.remedy


def test_what_has_no_flaw_is_not_refused() -> None:
    assert flaws.of_program(ProgramAnswer(), NAME) is None
    assert flaws.of_memory(MemoryAnswer(), NAME, is_linked=True) is None


def test_a_program_that_records_nothing_is_told_why() -> None:
    off = MemoryAnswer(flaw="off")
    unlinked = flaws.of_memory(off, NAME, is_linked=False)
    switched = flaws.of_memory(off, NAME, is_linked=True)
    assert unlinked is not None
    assert switched is not None
    assert "nothing in it uses runtime.MemProfile" in unlinked.what
    assert "has set runtime.MemProfileRate to 0" in switched.what


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (ProcessGoneError(), "gone"),
        (KernelThreadError(), "heap"),
        (HiddenFileError(), "rights"),
        (FileSystemStuckError(), "heap"),
        (WorkerFailedError("hung"), "heap"),
    ],
)
def test_every_failure_has_its_reason(failure: Exception, reason: str) -> None:
    refusal = flaws.of_failure(failure, NAME)
    assert refusal.reason == reason
    assert NAME in refusal.what
    assert "CAP_SYS_PTRACE" in flaws.of_failure(HiddenFileError(), NAME).remedy

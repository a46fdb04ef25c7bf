from dataclasses import replace

import pytest
from nemutator_agent.profiler.raw import NANOSECONDS, RawProfile
from nemutator_agent.profiler.remarks import off_cpu_remarks, remarks

RAW = RawProfile(
    hz=100, started_at=0, seconds=10, rows=(), recorded=1000, lost={}, cpu_seconds=10.0
)
NONE = replace(RAW, recorded=0)


@pytest.mark.parametrize(
    ("raw", "truncated", "said"),
    [
        (RAW, 0, ()),
        (NONE, 0, ("no sample, but 10.0 s",)),
        (replace(NONE, cpu_seconds=0.0), 0, ("no sample: by the kernel's accounts",)),
        (replace(NONE, cpu_seconds=None), 0, ("no sample", "could not be read")),
        (RAW, 4, ("4 samples are deeper than 127 frames",)),
        (replace(RAW, cpu_seconds=None), 0, ("could not be read",)),
        (replace(RAW, cpu_seconds=12.0), 0, ("samples say 10.0 s of CPU time",)),
        (replace(RAW, recorded=800, lost={"rows_full": 200}), 0, ()),
        (replace(RAW, recorded=3, cpu_seconds=0.03), 0, ()),
    ],
)
def test_the_numbers_of_a_profile_are_commented(
    raw: RawProfile, truncated: int, said: tuple[str, ...]
) -> None:
    found = remarks(raw, truncated=truncated)
    assert len(found) == len(said)
    assert all(part in remark for part, remark in zip(said, found, strict=True))


def test_a_quiet_process_is_compared_with_its_account_too() -> None:
    quiet = replace(NONE, hz=199, seconds=30, cpu_seconds=0.22)
    (said,) = remarks(quiet, truncated=0)
    assert said.startswith("no sample, but 0.22 s of CPU time in the kernel's accounts: ")
    half = replace(quiet, recorded=12)
    (said,) = remarks(half, truncated=0)
    assert said == "samples say 0.06 s of CPU time, the kernel's accounts 0.22 s"


@pytest.mark.parametrize("recorded", [25, 44, 62])
def test_what_chance_does_to_few_samples_is_not_remarked_on(recorded: int) -> None:
    assert remarks(replace(RAW, hz=199, recorded=recorded, cpu_seconds=0.22), truncated=0) == ()


def test_time_off_the_cpu_is_commented() -> None:
    waits = replace(RAW, hz=NANOSECONDS, recorded=5 * NANOSECONDS)
    assert off_cpu_remarks(waits, truncated=0, untimed=0) == ()
    short = replace(waits, lost={"stacks_full": NANOSECONDS // 2})
    assert off_cpu_remarks(short, truncated=NANOSECONDS, untimed=1) == (
        "1.0 s are of stacks deeper than 127 frames: their roots are cut off",
        "0.50 s are lost: stacks full",
        "1 waits were not timed: too many threads were blocked at once",
    )
    (said,) = off_cpu_remarks(replace(waits, recorded=0), truncated=0, untimed=0)
    assert said.startswith("no thread was blocked that had run before")

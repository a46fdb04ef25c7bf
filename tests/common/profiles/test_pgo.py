import gzip
from dataclasses import replace

import pytest
from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import Frame, Profile
from nemutator_common.profiles.pgo import NoGoCallsError, compiler_profile
from nemutator_common.profiles.pprof_messages import messages

PRICE = Frame("main.price", "/src/main.go", 14, 10, "go", inlined=True)
WORK = Frame("main.work", "/src/main.go", 25, 20, "go")
KERNEL = Frame("clear_page", kind="kernel")
C = Frame("malloc", kind="native")


def profile(hz: int = 100, **changed: object) -> Profile:
    made = Profile(
        hz=hz,
        started_at=1_700_000_000.0,
        seconds=10.0,
        frames=(PRICE, WORK, KERNEL, C),
        stacks=(((0, 1), 60), ((2, 0, 1), 20), ((1,), 10), ((3,), 10)),
        recorded=100,
    )
    return replace(made, **changed)  # type: ignore[arg-type]


def written(content: bytes) -> Profile:
    return pprof.decode(content)


def test_it_counts_nanoseconds_of_cpu_alone() -> None:
    made = compiler_profile([profile()])
    found = written(made.content)
    assert (found.hz, found.started_at, found.seconds) == (1_000_000_000, 1_700_000_000.0, 10.0)
    raw = messages().Profile.FromString(gzip.decompress(made.content))
    [kind] = [messages().ValueType.FromString(one) for one in raw.sample_type]
    words = [raw.string_table[number].decode() for number in (kind.type, kind.unit)]
    assert words == ["cpu", "nanoseconds"]


def test_only_calls_of_go_are_in_it_and_the_kernels_time_is_their_callers() -> None:
    made = compiler_profile([profile()])
    assert (made.profiles, made.stacks) == (1, 2)
    assert (made.cpu_seconds, made.left_s) == (0.9, 0.1)
    found = written(made.content)
    weights = {
        tuple(found.frames[number].function for number in stack): weight
        for stack, weight in found.stacks
    }
    assert weights == {("main.price", "main.work"): 800_000_000, ("main.work",): 100_000_000}
    starts = {frame.function: (frame.start_line, frame.line) for frame in found.frames}
    assert starts == {"main.price": (10, 14), "main.work": (20, 25)}


def test_profiles_of_several_rates_weigh_what_they_took() -> None:
    made = compiler_profile([profile(), profile(hz=50, stacks=(((1,), 5),))])
    assert (made.profiles, made.cpu_seconds) == (2, 1.0)
    assert written(made.content).seconds == 20.0


def test_each_profile_is_taken_once_and_let_go() -> None:
    left = [profile(), profile()]
    made = compiler_profile(left.pop() for _ in range(2))
    assert (left, made.profiles) == ([], 2)


def test_what_the_compiler_could_not_use_is_refused() -> None:
    for unusable, why in (
        (profile(stacks=(((2,), 9),)), "no sample is in a function of Go"),
        (profile(stacks=()), "no sample is in a function of Go"),
        (
            profile(frames=(*(replace(one, start_line=0) for one in (PRICE, WORK)), KERNEL, C)),
            "1.20",
        ),
    ):
        with pytest.raises(NoGoCallsError, match=why):
            compiler_profile([unusable])
    with pytest.raises(NoGoCallsError):
        compiler_profile([])

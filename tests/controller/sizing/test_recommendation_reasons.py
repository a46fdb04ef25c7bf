import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from nemutator_controller.sizing.known_usage import KnownUsage
from nemutator_controller.sizing.recommendation import recommend

from tests.controller.sizing.test_recommendation import OLD, SEEN, paced
from tests.fakes.sizing import columns_of

HINDERED = (
    "stopped at its CPU limit in 20% of the time: it needs more;"
    " waits for a CPU in 30% of the time: it may need more;"
    " killed for memory once: it needs more;"
    " waits for memory that was taken from it: it needs more"
)


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (OLD, ""),
        (replace(SEEN, points=1), "1 of 8 points, ask again in 105 s"),
        (paced(SEEN, 40, 600.0), "40 of 100 points, over 10 min"),
        (paced(SEEN, 300, 45.0), "300 points of 45 s, firm after 24 min"),
        (SEEN, "no limit of memory before a day: 25 min of data"),
        (replace(OLD, last_at=-7_300.0), "last seen 2 h ago"),
        (
            replace(OLD, throttled=0.2, cpu_waiting=0.33, kills=1, memory_waiting=0.5),
            HINDERED,
        ),
    ],
)
def test_what_is_to_be_said_of_one_is_said_in_order_beside_others(
    seen: KnownUsage, reason: str
) -> None:
    found = recommend(columns_of(OLD, seen, OLD), now=0.0)
    assert list(found.reasons) == ["", reason, ""]


PRESSED = "waits for memory that was taken from it: it needs more"


@given(
    st.lists(
        st.tuples(
            st.integers(8, 300),
            st.floats(0.0, 300_000.0, allow_subnormal=False),
            st.floats(1.0, 300_000.0, allow_subnormal=False),
            st.sampled_from([10.0, 99.0, 1e4]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_what_is_said_alone_is_said_the_same_beside_something_else(
    several: list[tuple[int, float, float, float]],
) -> None:
    """Most have one sentence, which is made another way."""
    rows = [
        replace(OLD, points=points, span_s=span_s, sampled_s=sampled_s, steps=steps)
        for points, span_s, sampled_s, steps in several
    ]
    alone = recommend(columns_of(*rows), now=0.0).reasons
    beside = recommend(columns_of(*(replace(one, memory_waiting=0.5) for one in rows)), now=0.0)
    assert [f"{one}; {PRESSED}" if one else PRESSED for one in alone] == list(beside.reasons)

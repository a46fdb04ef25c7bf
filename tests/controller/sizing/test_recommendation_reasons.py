import pytest
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

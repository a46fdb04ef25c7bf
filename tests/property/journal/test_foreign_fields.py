"""Whatever strangers write while a mutation is taken back stays, in a hundred interleavings."""

import random

import pytest

from tests.property.journal.in_memory import InMemory
from tests.property.journal.interleavings import interleaved

CASES = 100
"""The drill has ten thousand."""


@pytest.mark.slow
async def test_no_field_of_a_stranger_is_touched() -> None:
    dice, taken, raced = random.Random(15), 0, 0
    for number in range(CASES):
        case = await interleaved(InMemory(), "default", dice, number)
        assert case.foreign() == [], number
        assert case.kept() == [], number
        taken += any(one.result == "reversed" for one in case.reversal.outcomes)
        raced += bool(case.strangers.written)
    # Most have something to take back, and strangers in the way.
    assert taken > CASES / 2
    assert raced > CASES / 2

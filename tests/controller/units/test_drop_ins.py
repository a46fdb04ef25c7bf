import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.units.drop_ins import cpu_weight, drop_in


@pytest.mark.parametrize(
    ("millis", "weight"),
    # The ends and the middle of runc's curve, and what crun's table says in between.
    [(0, 1), (1, 1), (2, 1), (100, 17), (500, 59), (1_000, 100), (2_000, 174), (256_000, 10_000)],
)
def test_a_core_is_what_every_unit_has_without_a_weight(millis: int, weight: int) -> None:
    assert cpu_weight(millis) == weight


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_more_cpu_never_weighs_less_and_all_weights_are_systemds(one: int, other: int) -> None:
    less, more = sorted((one, other))
    assert 1 <= cpu_weight(less) <= cpu_weight(more) <= 10_000


def test_only_what_is_advised_is_in_the_file() -> None:
    assert drop_in(weight=59, memory_high=None).splitlines()[1:] == ["[Service]", "CPUWeight=59"]
    assert drop_in(weight=None, memory_high=412_000_000).splitlines()[1:] == [
        "[Service]",
        "MemoryHigh=412000000",
    ]

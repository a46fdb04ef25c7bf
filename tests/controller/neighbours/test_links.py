import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from nemutator_controller.neighbours.co_movement import LEAST_MINUTES
from nemutator_controller.neighbours.links import (
    assess,
    busiest,
    most_of_a_victim,
    row_quantiles,
    rows_reaching,
)
from nemutator_controller.neighbours.node_window import FIGURES, MINUTES, Values
from nemutator_controller.neighbours.resources import Contended

from tests.fakes.planted_neighbours import harmed, planted_node

CPU, NETWORK = FIGURES.index("cpu"), FIGURES.index("network")
WAITS = [FIGURES.index(name) for name in ("cpu_waiting", "memory_waiting", "disk_waiting")]


@pytest.mark.parametrize("resource", list(Contended))
def test_a_planted_aggressor_is_found_and_the_innocent_are_not(resource: Contended) -> None:
    """make bench NAME=neighbours counts on 200 nodes."""
    hits = misses = 0
    for seed in range(300, 310):
        node = planted_node(seed, resource)
        (planted,) = node.aggressors
        found = {link.aggressor for link in assess(node.values).links}
        if max(harmed(seed, resource, planted).values()) >= 1.5:
            hits += planted in found
            misses += planted not in found
        assert len(found - node.aggressors) <= 1
    assert hits > 0
    assert misses <= 1


def test_a_node_on_which_nobody_is_in_the_way_has_no_links() -> None:
    for seed in range(20):
        found = assess(planted_node(seed, None, pods=20).values)
        assert found.links == ()
        assert set(found.victims) == set(found.aggressors) == {""}


def test_an_aggressor_that_is_quiet_now_does_no_harm_now() -> None:
    node = planted_node(300, Contended.CPU, pods=20)
    (planted,) = node.aggressors
    values = node.values.copy()
    values[CPU, planted, -8:] = 0.01
    values[WAITS[0], :, -8:] = 0.01
    links = [link for link in assess(values).links if link.aggressor == planted]
    assert links
    assert max(link.aggressor_now for link in links) < 1.0
    assert max(link.victim_now for link in links) < 1.0


def test_load_that_moves_from_one_to_another_is_nobodys_fault() -> None:
    dice = np.random.default_rng(8)
    values = planted_node(8, None, pods=6).values.copy()
    turn = np.repeat(dice.integers(0, 2, MINUTES // 4 + 1), 4)[:MINUTES]
    values[NETWORK, 3] = 1.0 + 40.0 * turn
    values[NETWORK, 4] = 1.0 + 40.0 * (1 - turn)
    assert [one for one in assess(values).links if one.resource is Contended.NETWORK] == []


def test_of_what_was_seen_shortly_nobody_can_tell() -> None:
    values = planted_node(1, Contended.CPU, pods=8).values.copy()
    values[:, 2, : MINUTES - LEAST_MINUTES + 1] = np.nan
    values[WAITS, 3] = np.nan
    found = assess(values)
    assert f"{LEAST_MINUTES} are needed" in found.victims[2]
    assert f"{LEAST_MINUTES} are needed" in found.aggressors[2]
    assert "no pressure (PSI)" in found.victims[3]
    assert found.aggressors[3] == ""
    assert not [one for one in found.links if 2 in (one.victim, one.aggressor)]


def test_where_nothing_tells_how_long_it_waits_nobody_is_an_aggressor_or_known_as_none() -> None:
    values = planted_node(1, None, pods=5).values.copy()
    values[WAITS] = np.nan
    found = assess(values)
    assert all("waits" in why for why in found.aggressors)


def test_zeros_suffer_from_nobody() -> None:
    found = assess(np.zeros((len(FIGURES), 4, MINUTES), dtype=np.float32))
    assert found.links == ()
    assert set(found.victims) == {""}


def test_a_node_without_containers_is_no_fault() -> None:
    assert assess(np.zeros((len(FIGURES), 0, MINUTES), dtype=np.float32)).links == ()


def test_whoever_is_slowed_down_is_not_blamed_beside_who_slows_it_down() -> None:
    assert most_of_a_victim(Contended.CACHE) == 1 < most_of_a_victim(Contended.CPU)


@given(
    arrays(
        np.float32,
        st.tuples(st.integers(0, 5), st.integers(1, MINUTES)),
        elements=st.sampled_from([0.0, 0.05, 0.1, 0.2, 3.0, float("nan")]),
    ),
    st.sampled_from([0.1, 0.5, 0.9]),
    st.sampled_from([0.05, 0.1, 0.15, 5.0]),
)
def test_who_reaches_a_bound_is_counted_as_it_would_be_found_in_order(
    values: Values, part: float, bound: float
) -> None:
    enough = np.count_nonzero(~np.isnan(values), axis=1) >= LEAST_MINUTES
    in_order = np.flatnonzero(enough & (row_quantiles(values, part) >= bound))
    assert rows_reaching(values, part, bound) == in_order.tolist()


@given(arrays(np.float32, st.integers(1, MINUTES), elements=st.floats(0, 1e6, width=32)))
def test_the_busiest_is_the_90th_percentile(together: Values) -> None:
    assert busiest(together) == pytest.approx(float(np.quantile(together.astype(float), 0.9)))

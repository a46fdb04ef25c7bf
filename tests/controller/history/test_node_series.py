import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.history.node_series import (
    ASKED_AGAIN_S,
    NodeSeries,
    SoundPoints,
    sound_points,
)
from nemutator_controller.history.rows import NO_ROOM, NOBODY
from nemutator_controller.ingest.points_together import parts_of
from nemutator_controller.ingest.usage_points import NodePoints, UsagePoints

from tests.controller.history.points import NOW, Point, pod, points, quarters

SERIES = [pod("a"), pod("b"), pod("c")]


def known(*rows: int) -> NodeSeries:
    node = NodeSeries(SERIES)
    node.unknown(0, now=NOW)
    node.rows[:] = rows
    return node


def sound_of(
    told: UsagePoints, node: NodeSeries, *, floor_s: float, latest_s: float
) -> SoundPoints:
    [part] = parts_of([NodePoints("n", told)])
    return sound_points(part, [node], floor_s=floor_s, latest_s=latest_s)


def test_series_are_looked_up_when_they_are_named_and_those_without_a_row_again() -> None:
    node = NodeSeries(SERIES[:2])
    assert list(node.unknown(0, now=NOW)) == [0, 1]
    node.rows[:] = 7, NOBODY
    assert list(node.unknown(0, now=NOW + 1)) == []
    node.series = SERIES
    assert list(node.unknown(0, now=NOW + 2)) == [2]
    node.rows[2] = NO_ROOM
    assert list(node.unknown(0, now=NOW + ASKED_AGAIN_S)) == [1, 2]
    assert list(node.unknown(1, now=NOW + ASKED_AGAIN_S)) == [0, 1, 2]


def test_points_without_a_row_are_left_out_and_counted() -> None:
    told = points(SERIES, [one for of in range(3) for one in quarters(NOW, 2, of=of)])
    sound = sound_of(told, known(4, NOBODY, NO_ROOM), floor_s=0, latest_s=NOW + 99)
    assert sound.rows.tolist() == [4, 4]
    assert sound.dropped == {"unknown_owner": 2, "no_room": 2}


def told_twice() -> st.SearchStrategy[list[Point]]:
    return st.lists(
        st.builds(
            lambda of, begin, length: (of, NOW + begin, NOW + begin + length, 1.0, 1.0),
            st.integers(0, 2),
            st.sampled_from([0, 15, 30, 45, 60, 7]),
            st.sampled_from([15.0, 7.0, 0.0, -5.0]),
        ),
        min_size=1,
        max_size=12,
    )


@given(told_twice(), told_twice())
def test_no_time_of_a_series_counts_twice(first: list[Point], second: list[Point]) -> None:
    node = known(0, 1, 2)
    taken: dict[int, list[tuple[float, float]]] = {}
    for told in (first, second):
        sound = sound_of(points(SERIES, told), node, floor_s=0, latest_s=NOW + 999)
        assert len(sound) + sum(sound.dropped.values()) == len(told)
        for row, begin, end in zip(sound.rows, sound.begin, sound.end, strict=True):
            taken.setdefault(int(row), []).append((begin, end))
    for spans in taken.values():
        spans.sort()
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))


def test_what_is_fast_to_say_is_what_is_said_of_each_point() -> None:
    told = points(SERIES, [*quarters(NOW, 4), *quarters(NOW, 4, of=1)])
    sound = sound_of(told, known(0, 1, 2), floor_s=NOW, latest_s=NOW + 60)
    assert sound.rows.tolist() == [0] * 4 + [1] * 4
    assert np.array_equal(sound.columns["cpu_cores"], np.ones(8))
    assert sound.dropped == {}


def test_a_figure_that_nobody_counts_is_left_out() -> None:
    told = points(SERIES, quarters(NOW, 4, memory=float("nan")))
    sound = sound_of(told, known(0, 1, 2), floor_s=NOW, latest_s=NOW + 60)
    assert list(sound.columns) == ["cpu_cores"]
    assert len(sound) == 4

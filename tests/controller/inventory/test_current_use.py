import numpy as np
from hypothesis import given
from nemutator_controller.ingest.usage_points import NodePoints, Series, UsagePoints
from nemutator_controller.inventory.current_use import GONE_S, CurrentUse

from tests.controller.ingest.reported import NOW as TOLD_AT
from tests.controller.ingest.reported import groups

NOW = 1_760_000_000.0
A, B = (Series(f"/{name}", "u1", name, None) for name in "ab")


def points(series: list[Series], *rows: tuple[int, float, float]) -> UsagePoints:
    """Rows of a series' number, the end of its quarter of a minute, and CPU."""
    of, to_at, cpu = zip(*rows, strict=True)
    return UsagePoints(
        series=series,
        of=np.array(of, dtype=np.int32),
        from_at=np.array(to_at) - 15,
        to_at=np.array(to_at, dtype=np.float64),
        columns={"cpu_cores": np.array(cpu)},
    )


def cores(use: CurrentUse, now: float = NOW) -> dict[str, float | None]:
    """By container."""
    node = use.nodes()["n1"]
    return {
        container: node.last(number).cpu_cores
        for numbers in node.containers(now=now).values()
        for container, number in numbers.items()
    }


def test_the_last_point_of_each_series_counts() -> None:
    use, series = CurrentUse(most_nodes=2), [A]
    use.learn("n1", points(series, (0, NOW - 30, 0.5), (0, NOW - 15, 0.25)), NOW)
    assert cores(use) == {"a": 0.25}
    series.append(B)
    use.learn("n1", points(series, (1, NOW, 2.0)), NOW)
    assert cores(use) == {"a": 0.25, "b": 2.0}
    # One that comes late is not the last.
    use.learn("n1", points(series, (1, NOW - 60, 8.0)), NOW)
    assert cores(use) == {"a": 0.25, "b": 2.0}
    assert use.nodes()["n1"].last(0).memory_bytes is None, "what is not told is not known"


def test_what_has_ended_goes_and_another_epoch_begins_anew() -> None:
    use, series = CurrentUse(most_nodes=2), [A]
    use.learn("n1", points(series, (0, NOW, 0.5)), NOW)
    assert cores(use, NOW + GONE_S + 1) == {}
    use.learn("n1", points([B], (0, NOW - 20, 0.75)), NOW)
    assert cores(use) == {"b": 0.75}


def test_groups_that_are_no_container_and_series_named_since_are_left_out() -> None:
    use, series = CurrentUse(most_nodes=2), [Series("/pod", "u1", None, None), A]
    use.learn("n1", points(series, (0, NOW, 1.0), (1, NOW, 0.5)), NOW)
    series.append(B)
    assert use.nodes()["n1"].containers(now=NOW) == {"u1": {"a": 1}}


def test_a_clock_that_runs_ahead_shuts_nothing_out() -> None:
    use, series = CurrentUse(most_nodes=2), [A]
    use.learn("n1", points(series, (0, NOW + 86_400, 9.0)), NOW)
    use.learn("n1", points(series, (0, NOW, 0.5)), NOW)
    assert cores(use) == {"a": 0.5}


def test_the_node_that_was_silent_longest_makes_room() -> None:
    use = CurrentUse(most_nodes=2)
    for node in ("n1", "n2", "n1", "n3"):
        use.learn(node, points([A], (0, NOW, 0.5)), NOW)
    assert use.nodes().keys() == {"n1", "n3"}


@given(groups())
def test_what_is_reported_together_is_learned_as_if_each_came_alone(
    several: list[list[NodePoints]],
) -> None:
    together, alone = CurrentUse(most_nodes=2), CurrentUse(most_nodes=2)
    for reported in several:
        together.learn_all(reported, TOLD_AT)
        for one in reported:
            alone.learn(one.node, one.points, TOLD_AT)
    assert list(together.nodes()) == list(alone.nodes())
    for node, use in together.nodes().items():
        other = alone.nodes()[node]
        assert np.array_equal(use.at, other.at)
        assert np.array_equal(use.columns, other.columns, equal_nan=True)

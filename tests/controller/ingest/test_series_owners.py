from collections.abc import Sequence

import numpy as np
import pytest
from nemutator_controller.ingest import series_owners
from nemutator_controller.ingest.series_owners import (
    FIRST_RETRY_S,
    LONGEST_RETRY_S,
    SeriesOwners,
)
from nemutator_controller.ingest.usage_points import Series, UsagePoints


class Finding:
    """Knows some paths, and remembers what it was asked for."""

    def __init__(self, **known: str) -> None:
        self.known = known
        self.asked: list[str] = []

    def of(self, node: str, series: Series) -> str | None:
        self.asked.append(f"{node}{series.path}")
        return self.known.get(series.path[1:])

    def taken(self) -> list[str]:
        asked, self.asked = self.asked, []
        return asked


def named(*paths: str) -> list[Series]:
    return [Series(f"/{path}", None, None, None) for path in paths]


def points(series: Sequence[Series], *of: int) -> UsagePoints:
    at = np.zeros(len(of))
    return UsagePoints(series, np.array(of, dtype=np.int32), at, at, {})


def test_an_owner_is_asked_for_once() -> None:
    finding, series = Finding(a="A", b="B"), named("a", "b")
    owners = SeriesOwners(finding.of, most_nodes=2)
    for _ in range(3):
        assert list(owners.of("n", points(series, 0, 1, 0), now=0.0)) == ["A", "B"]
    assert finding.asked == ["n/a", "n/b"]
    series += named("c", "a")
    assert list(owners.of("n", points(series, 3), now=0.0)) == ["A", "B", None, "A"]
    assert finding.asked[2:] == ["n/a"]


def test_what_is_not_known_yet_is_asked_for_again_ever_more_seldom() -> None:
    finding, series = Finding(a="A"), named("a", "b")
    owners = SeriesOwners(finding.of, most_nodes=2)
    asked_at = []
    for now in range(0, 4_000, 5):
        owners.of("n", points(series, 0, 1), now=float(now))
        if finding.taken():
            asked_at.append(now)
    assert asked_at[:4] == [0, FIRST_RETRY_S, 3 * FIRST_RETRY_S, 7 * FIRST_RETRY_S]
    assert asked_at[-1] - asked_at[-2] == LONGEST_RETRY_S
    finding.known["b"] = "B"
    assert list(owners.of("n", points(series, 1), now=9_000.0)) == ["A", "B"]


def test_other_series_have_other_owners_even_of_the_same_number() -> None:
    finding = Finding(a="A", b="B")
    owners = SeriesOwners(finding.of, most_nodes=2)
    assert list(owners.of("n", points(named("a"), 0), now=0.0)) == ["A"]
    assert list(owners.of("n", points(named("b"), 0), now=0.0)) == ["B"]


def test_it_is_bounded_by_the_nodes_that_were_heard_of_last() -> None:
    finding, series = Finding(a="A"), named("a")
    owners = SeriesOwners(finding.of, most_nodes=2)
    for node in ("n1", "n2", "n1", "n3", "n1", "n2"):
        owners.of(node, points(series, 0), now=0.0)
    assert finding.asked == ["n1/a", "n2/a", "n3/a", "n2/a"]


def test_owners_that_are_equal_are_kept_once_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(series_owners, "MOST_SHARED", 2)

    def find(node: str, series: Series) -> tuple[str, ...]:
        return (series.path[:2], "of all nodes")

    owners = SeriesOwners(find, most_nodes=9)
    one, other = (owners.of(node, points(named("a1", "a2"), 0, 1), now=0.0) for node in ("n", "m"))
    assert one[0] is one[1] is other[0] is other[1]
    for path in ("b", "c", "d"):
        assert owners.of(path, points(named(path), 0), now=0.0)[0] == (f"/{path}", "of all nodes")
    again = owners.of("o", points(named("a3"), 0), now=0.0)[0]
    assert again == one[0]
    assert again is not one[0]


def test_only_so_many_are_asked_for_again_at_one_moment() -> None:
    finding, series = Finding(), named("a", "b")
    owners = SeriesOwners(finding.of, most_nodes=10, most_retries=5)
    nodes = [f"n{number}" for number in range(10)]

    def ask(now: float) -> int:
        for node in nodes:
            owners.of(node, points(series, 0, 1), now=now)
        return len(finding.taken())

    # What is new has to be known at once.
    assert ask(0.0) == 20
    assert ask(FIRST_RETRY_S) == 6
    assert [ask(FIRST_RETRY_S + more) for more in (1.0, 2.0, 3.0, 4.0)] == [6, 6, 2, 0]

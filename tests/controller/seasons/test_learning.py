"""What reports say is added to the days of its workload; what is absurd is counted."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_controller.ingest.series_owners import SeriesOwners
from nemutator_controller.ingest.usage_points import NodePoints, Series, UsagePoints
from nemutator_controller.seasons.calendars import SeasonCalendar
from nemutator_controller.seasons.day_book import CLUSTER, DayBook
from nemutator_controller.seasons.learning import OwnedScope, SeasonLearner

from tests.controller.ingest.reported import NOW as TOLD_AT
from tests.controller.ingest.reported import groups
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

BEGIN = 20_000 * 86_400.0


def owner(node: str, series: Series) -> OwnedScope | None:
    if series.path == "unknown":
        return None
    return ("shop", "Deployment", series.path), series.path != "inner"


def learned(
    *points: tuple[str, float, float, float], most: int = 10
) -> tuple[DayBook, MemoryMeter]:
    """Series, begin and end after `BEGIN`, and cores."""
    book, meter = DayBook(SeasonCalendar(lambda _: 0.0), most), MemoryMeter()
    process = fake_process(clock=ManualClock(BEGIN + 300), meter=meter)
    learner = SeasonLearner(book, SeriesOwners(owner, most_nodes=9), process)
    paths = list(dict.fromkeys(one[0] for one in points))
    learner.learn(
        "n1",
        UsagePoints(
            series=[Series(path, None, None, None) for path in paths],
            of=np.array([paths.index(one[0]) for one in points], dtype=np.int32),
            from_at=BEGIN + np.array([one[1] for one in points]),
            to_at=BEGIN + np.array([one[2] for one in points]),
            columns={"cpu_cores": np.array([one[3] for one in points])},
        ),
        BEGIN + 300,
    )
    return book, meter


def test_workloads_and_their_sum_are_kept() -> None:
    quarters = [(name, at, at + 15.0, 1.0) for at in range(0, 300, 15) for name in ("web", "inner")]
    book, _ = learned(*quarters)
    *_, slot = book.close(now=BEGIN + 390, late_s=90)

    assert slot.use[book.numbers["shop", "Deployment", "web"]] == 1.0
    assert slot.use[book.numbers["shop", "Deployment", "inner"]] == 1.0
    # What lies within another group counts there already.
    assert slot.use[book.numbers[CLUSTER]] == 1.0


def test_what_is_absurd_late_or_has_no_room_is_counted() -> None:
    _, meter = learned(
        ("web", 0, 15, -1.0),
        ("web", 15, 15, 1.0),
        ("web", 0, 9_000, 1.0),
        ("web", 0, 15, float("inf")),
        ("web", 0, 15, float("nan")),
        ("web", -90_000, -89_985, 1.0),
        ("unknown", 0, 15, 1.0),
        ("second", 0, 15, 1.0),
        most=1,
    )

    assert meter.value(names.SEASON_POINTS_DROPPED, reason="absurd") == 4
    assert meter.value(names.SEASON_POINTS_DROPPED, reason="late") == 1
    assert meter.value(names.SEASON_POINTS_DROPPED, reason="no_room") == 1


def test_lines_are_looked_up_again_once_one_has_become_anothers() -> None:
    clock = ManualClock(BEGIN)
    book = DayBook(SeasonCalendar(lambda _: 0.0), 1)
    asked: list[str] = []

    def counted(node: str, series: Series) -> OwnedScope | None:
        asked.append(series.path)
        return owner(node, series)

    learner = SeasonLearner(
        book, SeriesOwners(counted, most_nodes=9), fake_process(clock=clock, meter=MemoryMeter())
    )
    several = {node: [Series(node, None, None, None)] for node in ("web", "cart")}

    def learn(node: str, now: float) -> None:
        learner.learn(
            node,
            UsagePoints(
                series=several[node],
                of=np.zeros(4, dtype=np.int32),
                from_at=np.array([now - 60 + 15 * n for n in range(4)]),
                to_at=np.array([now - 45 + 15 * n for n in range(4)]),
                columns={"cpu_cores": np.ones(4)},
            ),
            now,
        )

    for minute in range(6):
        learn("web", BEGIN + 60 * (minute + 1))
    assert asked == ["web"]
    # A day later another one has the only line, and then web again.
    for day, node in ((2, "cart"), (4, "web")):
        for minute in range(6):
            learn(node, BEGIN + day * 86_400 + 60 * (minute + 1))
        assert set(book.numbers) == {CLUSTER, ("shop", "Deployment", node)}
        slots = list(book.close(now=BEGIN + day * 86_400 + 390, late_s=90))
        assert slots[-1].use[1] == 1.0


@given(groups(), st.sampled_from([1, 2, 9]))
def test_what_is_reported_together_is_learned_as_if_each_came_alone(
    several: list[list[NodePoints]], most: int
) -> None:
    meters = MemoryMeter(), MemoryMeter()
    books = [DayBook(SeasonCalendar(lambda _: 0.0), most) for _ in meters]
    learners = [
        SeasonLearner(book, SeriesOwners(owner_but_nobody, most_nodes=2), fake_process(meter=meter))
        for book, meter in zip(books, meters, strict=True)
    ]
    for number, reported in enumerate(several):
        # After a day another may have a line.
        now = TOLD_AT + 50_000.0 * number
        learners[0].learn_all(reported, now)
        for one in reported:
            learners[1].learn(one.node, one.points, now)
    assert books[0].numbers == books[1].numbers
    slots = [
        {one.at: one.use.tolist() for one in book.close(now=TOLD_AT + 150_000, late_s=90)}
        for book in books
    ]
    assert repr(slots[0]) == repr(slots[1])
    for reason in ("late", "no_room", "absurd"):
        first, other = (one.value(names.SEASON_POINTS_DROPPED, reason=reason) for one in meters)
        assert first == other


def owner_but_nobody(node: str, series: Series) -> OwnedScope | None:
    return None if series.path == "/nobody" else owner(node, series)

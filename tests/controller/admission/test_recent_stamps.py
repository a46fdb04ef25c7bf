"""A stamp that was stripped is found again for a while, for the pod that shows its values."""

from typing import Any

import msgspec
from nemutator_controller.admission.recent_stamps import (
    FEW_IDS,
    KEPT_S,
    MOST,
    MOST_KINDS,
    Origin,
    RecentStamps,
)
from nemutator_controller.mutations.stamps import Stamp

from tests.controller.mutations.pods import edit

WEB = Origin("team", "", "web-", "Deployment", "web", "joe", dry_run=False)
STAMP = Stamp("1", (edit("metadata.labels[team]", None, "a"),))


def pod(**labels: Any) -> Any:
    return {"metadata": {"labels": labels}}


def test_it_is_given_back_once_and_only_within_its_time() -> None:
    stamps = RecentStamps()
    stamps.keep(WEB, pod(), STAMP, 0.0)
    assert stamps.knows(WEB)
    assert stamps.take(WEB._replace(user="jane"), pod(team="a"), 0.0) is None
    assert stamps.take(WEB, pod(), 0.0) is None
    assert stamps.take(WEB, pod(team="a"), KEPT_S) == STAMP
    assert not stamps.knows(WEB)
    assert stamps.take(WEB, pod(team="a"), KEPT_S) is None
    stamps.keep(WEB, pod(), STAMP, 0.0)
    assert stamps.take(WEB, pod(team="a"), KEPT_S + 1) is None
    assert not stamps.knows(WEB)


def test_edits_may_come_as_they_are_written() -> None:
    stamps = RecentStamps()
    for id_, edits in (("1", msgspec.json.encode(STAMP.edits)), ("2", STAMP.edits or ())):
        stamps.keep_alike(WEB, {}, edits, id_, 0.0)
    assert len(stamps.kinds(WEB)) == 1
    assert stamps.take(WEB, pod(team="a"), 0.0) == STAMP


def test_labels_that_are_not_ours_tell_pods_apart() -> None:
    stamps = RecentStamps()
    stamps.keep(WEB, pod(revision="1", team="theirs"), STAMP, 0.0)
    assert stamps.take(WEB, pod(revision="2", team="a"), 0.0) is None
    assert stamps.take(WEB, pod(revision="1", team="a", more="x"), 0.0) == STAMP


def test_the_pod_may_have_any_shape() -> None:
    stamps = RecentStamps()
    stamps.keep(WEB, {"metadata": 3}, STAMP, 0.0)
    stamps.keep(WEB, {}, Stamp("2", None), 0.0)
    for shape in ({}, {"metadata": 3}, {"metadata": {"labels": [1]}}):
        assert stamps.take(WEB, shape, 0.0) is None


def test_there_is_a_bound_for_all_and_for_those_of_one_origin() -> None:
    stamps = RecentStamps()
    for number in range(MOST_KINDS + 1):
        other = Stamp(str(number), (edit("metadata.labels[team]", None, str(number)),))
        stamps.keep(WEB, pod(), other, 0.0)
    assert stamps.take(WEB, pod(team="0"), 0.0) is None
    assert stamps.take(WEB, pod(team="1"), 0.0) is not None
    for number in range(MOST):
        stamps.keep(WEB._replace(name=str(number)), pod(), STAMP, 0.0)
    assert not stamps.knows(WEB)
    assert stamps.knows(WEB._replace(name="0"))


def test_many_of_one_kind_are_given_back_from_the_oldest_on_and_forgotten_like_few() -> None:
    stamps, many = RecentStamps(), 3 * FEW_IDS
    for number in range(many):
        stamps.keep(WEB, pod(), Stamp(str(number), STAMP.edits), float(number >= FEW_IDS))
    for number in range(FEW_IDS + 1):
        taken = stamps.take(WEB, pod(team="a"), 1.0)
        assert taken == Stamp(str(number), STAMP.edits)
    for number in range(FEW_IDS + 1, many):
        taken = stamps.take(WEB, pod(team="a"), KEPT_S + 1.0)
        assert taken == Stamp(str(number), STAMP.edits)
    assert not stamps.knows(WEB)
    stamps = RecentStamps()
    for number in range(many):
        stamps.keep(WEB, pod(), Stamp(str(number), STAMP.edits), 0.0)
    assert stamps.take(WEB, pod(team="a"), KEPT_S + 1.0) is None
    assert not stamps.knows(WEB)


class Link:
    """A `StampLink` between stamps in memory."""

    def __init__(self) -> None:
        self.others: list[Link] = []
        self.waiting: list[bytes] = []

    def tell(self, message: bytes) -> None:
        for other in self.others:
            other.waiting.append(message)

    def heard(self) -> list[bytes]:
        found, self.waiting = self.waiting, []
        return found


def siblings() -> tuple[RecentStamps, RecentStamps, Link]:
    one, other = Link(), Link()
    one.others, other.others = [other], [one]
    return RecentStamps(one), RecentStamps(other), other


def test_another_process_on_the_same_port_gives_it_back_and_then_nobody_does() -> None:
    first, second, _ = siblings()
    first.keep(WEB, pod(revision="1"), STAMP, 0.0)
    assert not second.knows(WEB)
    second.hear(1.0)
    assert second.knows(WEB)
    assert second.take(WEB, pod(revision="2", team="a"), 1.0) is None
    assert second.take(WEB, pod(revision="1", team="a"), 1.0) == STAMP
    first.hear(1.0)
    assert not first.knows(WEB)
    assert first.take(WEB, pod(revision="1", team="a"), 1.0) is None


def test_what_was_heard_is_forgotten_in_time_and_strange_bytes_are_nothing() -> None:
    first, second, link = siblings()
    link.waiting.append(b"?")
    first.keep(WEB, {"metadata": {"labels": {"a": 1}}}, STAMP, 0.0)
    second.hear(0.0)
    assert second.take(WEB, pod(team="a"), KEPT_S + 1) is None
    assert not second.knows(WEB)


def test_two_that_give_back_at_the_same_moment_give_back_different_ones() -> None:
    first, second, _ = siblings()
    made = [Stamp(name, STAMP.edits) for name in "abcd"]
    for stamps, stamp in zip((first, first, first, second), made, strict=True):
        stamps.keep(WEB, pod(), stamp, 0.0)
    for stamps in (first, second):
        stamps.hear(0.0)
    given = []
    for _ in range(2):
        # Neither has heard of what the other takes.
        given += [stamps.take(WEB, pod(team="a"), 0.0) for stamps in (first, second)]
    assert sorted(each.id for each in given if each is not None) == ["a", "b", "c", "d"]
    for stamps in (first, second):
        stamps.hear(0.0)
        assert stamps.take(WEB, pod(team="a"), 0.0) is None
        assert not stamps.knows(WEB)

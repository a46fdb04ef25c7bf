import dataclasses

import pytest
from hypothesis import given
from nemutator_common.profiles.heap import Allocated, HeapProfile
from nemutator_common.profiles.model import Frame, Profile, Weighed, functions
from nemutator_common.profiles.sums import NotAlikeError, summed

from tests.common.profiles.made import profiles, small

KEEP = Frame("main.keep", "main.go", 27, kind="go")
HEAP = HeapProfile(
    started_at=5.0,
    rate=524_288,
    frames=(KEEP,),
    sites=(((0,), Allocated(4, 400, 3, 300)),),
    notes=("as of garbage collection 9",),
    labels={"pod": "shop/cart"},
)


@given(profiles(), profiles())
def test_each_function_weighs_what_it_weighs_in_both(one: Profile, two: Profile) -> None:
    two = dataclasses.replace(two, hz=one.hz)
    both = summed([one, two])
    assert isinstance(both, Profile)
    weights: dict[tuple[str, str], int] = {}
    for share in (*functions(one), *functions(two)):
        key = (share.function, share.kind)
        weights[key] = weights.get(key, 0) + share.cumulative
    assert {(share.function, share.kind): share.cumulative for share in functions(both)} == weights
    assert both.recorded == one.recorded + two.recorded
    assert sum(both.lost.values()) == sum(one.lost.values()) + sum(two.lost.values())


def test_one_alone_is_itself() -> None:
    assert summed([small()]) == small()


def test_of_two_replicas_the_account_is_summed_and_shared_labels_stay() -> None:
    other = dataclasses.replace(
        small(), cpu_seconds=1.0, started_at=5.0, labels={"pod": "shop/cart-2"}, notes=("new",)
    )
    both = summed([small(), other])
    assert isinstance(both, Profile)
    assert (both.seconds, both.cpu_seconds, both.started_at) == (20.0, 1.125, 5.0)
    assert both.lost == {"truncated": 4}
    assert both.labels == {}
    assert both.notes == ("a note", "new")
    unknown = summed([small(), dataclasses.replace(small(), cpu_seconds=None)])
    assert isinstance(unknown, Profile)
    assert unknown.cpu_seconds is None


def test_heaps_are_summed_site_by_site() -> None:
    other = dataclasses.replace(HEAP, frames=(Frame("main.main"), KEEP), sites=(
        ((1,), Allocated(1, 100, 1, 100)), ((0,), Allocated(2, 20, 0, 0)),
    ))  # fmt: skip
    both = summed([HEAP, other])
    assert isinstance(both, HeapProfile)
    assert both.total == Allocated(7, 520, 4, 400)
    assert functions(both)[0].flat == 400


def test_folded_stacks_are_summed() -> None:
    one = Weighed(frames=(KEEP,), stacks=(((0,), 3),))
    assert summed([one, one]).stacks == (((0,), 6),)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (dataclasses.replace(small(), hz=50), "50 and 100 times a second"),
        (HEAP, "some of something else"),
        (Weighed(frames=(), stacks=()), "some of something else"),
    ],
)
def test_what_does_not_count_the_same_is_refused(
    other: Profile | HeapProfile | Weighed, why: str
) -> None:
    with pytest.raises(NotAlikeError, match=why):
        summed([small(), other])


def test_other_rates_and_units_are_refused() -> None:
    with pytest.raises(NotAlikeError, match="one byte of 1 and one of 524288"):
        summed([HEAP, dataclasses.replace(HEAP, rate=1)])
    with pytest.raises(NotAlikeError, match="bytes and samples"):
        summed([Weighed(frames=(), stacks=()), Weighed(frames=(), stacks=(), unit="bytes")])


def test_samples_keep_their_labels_in_a_sum() -> None:
    pid = (("pid", "7"),)
    one = dataclasses.replace(small(), samples=tuple((*row, pid) for row in small().stacks))
    both = summed([one, small()])
    assert isinstance(both, Profile)
    assert both.stacks == tuple((stack, 2 * count) for stack, count in small().stacks)
    assert both.samples == (*one.samples, *((*row, ()) for row in small().stacks))

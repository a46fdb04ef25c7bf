from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.profiles.model import LabelledStack
from nemutator_common.profiles.sample_labels import labelled

ONE, TWO = (("pid", "1"),), (("pid", "2"), ("pod", "x"))
SAMPLES = st.lists(
    st.tuples(st.sampled_from([(0,), (1, 0)]), st.integers(1, 9), st.sampled_from([(), ONE, TWO]))
)


def test_equal_samples_are_one() -> None:
    found = labelled([((0,), 2, ONE), ((0,), 3, TWO), ((0,), 4, ONE), ((1,), 1, ())])
    assert found == ((((0,), 6, ONE), ((0,), 3, TWO), ((1,), 1, ())), 0)


def test_without_labels_there_is_nothing_to_tell_apart() -> None:
    assert labelled([((0,), 2, ())]) == ((), 0)


def test_those_seen_least_lose_their_labels_when_there_are_too_many() -> None:
    found = labelled([((0,), 2, ONE), ((0,), 3, TWO), ((0,), 4, ())], most=1)
    assert found == ((((0,), 6, ()), ((0,), 3, TWO)), 2)


@given(SAMPLES, st.integers(0, 3))
def test_no_sample_is_lost_with_its_labels(samples: list[LabelledStack], most: int) -> None:
    found, lost = labelled(samples, most=most)
    if not found:
        assert not any(labels for _, _, labels in samples)
        return
    before, after = Counter[tuple[int, ...]](), Counter[tuple[int, ...]]()
    for stack, count, _ in samples:
        before[stack] += count
    for stack, count, _ in found:
        after[stack] += count
    assert before == after
    assert sum(1 for _, _, labels in found if labels) <= most
    unlabelled = sum(count for _, count, labels in found if not labels)
    assert unlabelled == lost + sum(count for _, count, labels in samples if not labels)

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.ordered_keys import OrderedKeys

texts = st.sampled_from(("a", "b", "ab", "\udce4", "Z", ""))
keys = st.builds(ContainerKey, texts, texts, texts, texts)


@given(st.lists(st.one_of(keys, st.just(None)), max_size=60))
def test_they_are_in_their_order_whatever_comes_and_goes_in_between(
    happens: list[ContainerKey | None],
) -> None:
    """A key that is there goes, another one comes; None: somebody asks."""
    ordered, there = OrderedKeys(), set[ContainerKey]()
    for key in (*happens, None):
        if key is None:
            assert ordered.all() == sorted(there)
        elif key in there:
            ordered.remove(key)
            there.remove(key)
        else:
            ordered.add(key)
            there.add(key)


def test_what_is_done_with_an_answer_changes_no_other() -> None:
    ordered = OrderedKeys()
    ordered.add(ContainerKey("a", "b", "c", "d"))
    ordered.all().clear()
    assert len(ordered.all()) == 1

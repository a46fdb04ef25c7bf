from dataclasses import replace

import pytest
from nemutator_common import names
from nemutator_controller.journal.rolling_back import NotToReverseError
from nemutator_controller.mutations.stamps import Stamp, written

from tests.controller.journal.decided_place import Place
from tests.fakes.decisions import EDITS, POD, changed_pod, decision


class Marked(Place):
    """A pod that carries a mark."""

    def __init__(self, mark: Stamp) -> None:
        super().__init__()
        pod = changed_pod()
        pod["metadata"]["annotations"] = {names.MUTATION: written(mark)}
        self.objects.place(POD, pod)


async def test_without_a_journal_the_mark_is_enough() -> None:
    place = Marked(Stamp("d7", EDITS[:2]))
    found = await place.rolling_back.stamped(POD)
    assert (found.id, found.edits) == ("d7", EDITS[:2])
    reversal = await place.rolling_back.roll_back(found, evict=False)
    assert reversal.state == "reversed"
    assert "labels" not in place.live.document["metadata"]


async def test_the_journal_knows_better_than_the_mark() -> None:
    place = Marked(Stamp("d1", EDITS[:1]))
    await place.journal.add([place.decision], writer="a", state="answered")
    assert (await place.rolling_back.stamped(POD)).edits == EDITS


async def test_anothers_mark_does_not_reach_the_other() -> None:
    place = Marked(Stamp("d1", EDITS[:1]))
    other = decision(subject=replace(POD, name="api-1"))
    await place.journal.add([other], writer="a", state="answered")
    found = await place.rolling_back.stamped(POD)
    assert found.subject.name == "web-1"
    assert found.edits == EDITS[:1]


async def test_a_pod_that_has_taken_the_name_is_another_one() -> None:
    place = Marked(Stamp("d2", EDITS))
    with pytest.raises(NotToReverseError, match="not there any more"):
        await place.rolling_back.plan(decision(1))


async def test_a_pod_that_was_changed_again_is_not_called_gone() -> None:
    place = Marked(Stamp("d2", EDITS))
    place.objects.place(replace(POD, uid="u1"), place.live.document)
    with pytest.raises(NotToReverseError, match="changed again since") as caught:
        await place.rolling_back.plan(decision(1, subject=replace(POD, uid="u1")))
    assert "rollback --pod team/web-1" in caught.value.remedy


@pytest.mark.parametrize(
    ("mark", "why"),
    [
        (Stamp("d9", None), "too long to say what was changed"),
        (Stamp("", ()), "carries no stamp of ours"),
    ],
)
async def test_a_mark_that_says_too_little_is_named(mark: Stamp, why: str) -> None:
    with pytest.raises(NotToReverseError, match=why):
        await Marked(mark).rolling_back.stamped(POD)


async def test_a_marked_pod_that_is_gone_is_named() -> None:
    place = Place()
    place.objects.living.clear()
    with pytest.raises(NotToReverseError, match="not there any more"):
        await place.rolling_back.stamped(POD)

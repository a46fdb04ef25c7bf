"""What the API server says no to, and how: as a real one has been recorded, word for word."""

import pytest

from tests.contract.kube.answers import answers, prepare, without_words
from tests.contract.kube.fake_place import FakePlace
from tests.contract.kube.places import Place
from tests.contract.kube.refusals import CASES, IN_GOS_WORDS
from tests.golden.kube.record import recorded


@pytest.mark.slow
async def test_each_request_gets_the_recorded_answer(place: Place) -> None:
    wanted = recorded()
    await prepare(place)
    found = await answers(place)
    if isinstance(place, FakePlace):
        for name in IN_GOS_WORDS:
            wanted[name] = without_words(wanted[name])
            found[name] = without_words(found[name])
    different = [name for name in wanted if wanted[name] != found.get(name)]
    assert {name: found.get(name) for name in different} == {
        name: wanted[name] for name in different
    }


def test_each_request_is_recorded_under_a_name_of_its_own() -> None:
    names = [case.name for case in CASES]
    assert sorted(names) == sorted(recorded())
    assert {*names} >= IN_GOS_WORDS

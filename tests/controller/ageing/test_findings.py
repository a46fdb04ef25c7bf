from dataclasses import replace

from nemutator_controller.ageing.findings import Findings
from nemutator_controller.ageing.model import AgeingFinding
from nemutator_controller.ageing.verdicts import assess

from tests.fakes.ageing import FRAMES, SHOP, kept_windows, window_source


def finding(*, grows_by: float = 5, image: str = "a1", now: float = 600) -> AgeingFinding:
    source = window_source(image=image)
    return assess(SHOP, {source: kept_windows(10, grows_by=grows_by)}, FRAMES, now=now)


def test_a_verdict_remembers_when_it_was_first_made_until_a_deploy() -> None:
    found = Findings()
    assert found.replace(finding(now=600)).first_seen == 600
    assert found.replace(finding(now=900)).first_seen == 600
    assert found.replace(finding(now=950, image="b2")).first_seen == 950
    assert found.replace(finding(now=990, image="b2", grows_by=0)).first_seen is None


def test_the_owner_is_told_of_an_image_once() -> None:
    found = Findings()
    found.replace(replace(finding(), told=True))
    found.replace(finding(grows_by=0))
    assert found.replace(finding()).told
    assert not found.replace(finding(image="b2")).told


def test_what_grows_comes_first() -> None:
    found = Findings()
    calm = replace(SHOP, program="calm")
    found.replace(replace(finding(grows_by=0), workload=calm))
    found.replace(finding())
    assert [one.workload for one in found.all()] == [SHOP, calm]
    assert found.all("bank") == []
    found.keep_only(frozenset({calm.id}))
    assert found.find(SHOP.id) is None
    found.restore([finding()])
    assert [one.workload for one in found.all("shop")] == [SHOP]


def test_what_grows_is_the_same_object_until_it_changes() -> None:
    found = Findings()
    leak = found.replace(finding())
    growing = found.growing()
    assert list(growing) == [leak]
    found.replace(replace(finding(grows_by=0), workload=replace(SHOP, program="calm")))
    assert found.growing() is growing
    found.replace(finding(now=700))
    assert found.growing() is not growing
    found.replace(finding(grows_by=0))
    assert list(found.growing()) == []
    assert found.verdicts() == {"steady": 2}


def test_what_is_forgotten_does_not_grow() -> None:
    found = Findings()
    found.restore([finding()])
    assert [one.workload for one in found.growing()] == [SHOP]
    found.keep_only(frozenset())
    assert list(found.growing()) == []

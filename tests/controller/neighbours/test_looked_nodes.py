from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.neighbours.looked_nodes import looked_pods
from nemutator_controller.neighbours.model import NeighbourRole

from tests.controller.neighbours.graded import link, looked, placed

VICTIM, AGGRESSOR = NeighbourRole.VICTIM, NeighbourRole.AGGRESSOR


def test_a_pod_has_the_worst_of_its_containers_and_the_links_of_all() -> None:
    web, other = placed("web-1"), placed("batch-1")
    found = looked_pods(looked([web, web, other], link(0, 2, victim_now=1.5), link(1, 2)))
    assert found.containers == 3
    assert found.pods["uid-web-1"].scores == {VICTIM: 3.0}
    assert found.pods["uid-batch-1"].scores == {AGGRESSOR: 2.0}
    assert len(found.links) == len(found.pods["uid-web-1"].links[VICTIM]) == 2


def test_of_a_pod_that_one_of_its_containers_tells_of_something_is_known() -> None:
    found = looked_pods(looked([placed("web-1"), None], untold="its clock has jumped"))
    assert found.untold == {"its clock has jumped": 1}
    assert found.pods["uid-web-1"].told == set()
    assert set(looked_pods(looked([placed("web-1")])).pods["uid-web-1"].told) == {VICTIM, AGGRESSOR}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20))
def test_each_link_is_told_of_both_ends_and_never_of_one_pod_alone(
    pairs: list[tuple[int, int]],
) -> None:
    # Two containers for each pod.
    containers = [placed(f"p{number // 2}-1") for number in range(6)]
    found = looked_pods(looked(containers, *[link(one, other) for one, other in pairs]))
    for role in (VICTIM, AGGRESSOR):
        told = [each for pod in found.pods.values() for each in pod.links.get(role, ())]
        assert sorted(map(id, told)) == sorted(map(id, found.links))
    assert all(each.victim.uid != each.aggressor.uid for each in found.links)

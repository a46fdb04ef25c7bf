from dataclasses import replace

from msgspec import structs
from nemutator_controller.neighbours.model import (
    NOT_GRADED,
    GradedTimes,
    NeighbourLink,
    NeighbourWorkload,
)
from nemutator_controller.neighbours.resources import Contended

from tests.controller.neighbours.graded import placed

LINK = NeighbourLink(
    victim=placed("web-1"),
    aggressor=placed("batch-1", namespace="jobs"),
    resource=Contended.CPU,
    correlation=0.9,
    p=1e-6,
    lag_minutes=0,
    minutes=59,
    quiet=0.02,
    busy=0.45,
)


def test_a_link_is_a_sentence() -> None:
    assert LINK.sentence() == (
        "shop/web-1 waits for a CPU (45 %, else 2 %) when jobs/batch-1 is busy"
    )
    more = replace(LINK, resource=Contended.CACHE)
    assert "needs more CPU for the same work (+45 %, else +2 %)" in more.sentence()
    late = replace(LINK, resource=Contended.TURNS, quiet=0.00206, busy=0.0452)
    assert "waits long for some turns on a CPU (45.2 ms, else 2.06 ms)" in late.sentence()


def test_who_sees_one_namespace_is_not_told_who_it_is_in_another_one() -> None:
    assert "when a pod of another namespace is busy" in LINK.sentence("shop")
    assert LINK.sentence("jobs").startswith("a pod of another namespace waits")


def test_off_clusters_there_is_no_namespace_to_name() -> None:
    assert (
        replace(LINK, victim=structs.replace(LINK.victim, namespace=""))
        .sentence()
        .startswith("web-1 ")
    )


def test_the_most_of_grades_leaves_out_what_nobody_can_tell() -> None:
    assert NOT_GRADED.most == 0
    assert GradedTimes(None, 1, 3).most == 3


def test_a_container_has_the_workload_of_its_pod() -> None:
    assert LINK.victim.workload == NeighbourWorkload("shop", "Deployment", "web")

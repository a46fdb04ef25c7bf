from nemutator_controller.neighbours.documents import (
    item_document,
    list_document,
    neighbour_document,
)
from nemutator_controller.neighbours.model import Neighbourhood, NeighbourRole
from nemutator_controller.neighbours.verdicts import Verdicts

from tests.controller.neighbours.graded import link, looked, placed


def found() -> Neighbourhood:
    verdicts = Verdicts(share=1.0, most=100)
    node = looked(
        [placed("web-1"), placed("batch-1", namespace="jobs"), placed("api-1")],
        link(0, 1),
        link(2, 1, victim_now=1.5),
    )
    latest = Neighbourhood()
    for _ in range(2):
        latest = verdicts.conclude([node], nodes_count=1, now=100.0)
    return latest


def listed(
    *,
    workloads: bool = False,
    role: NeighbourRole | None = None,
    namespace: str | None = None,
    limit: int = 10,
) -> tuple[list[str], int]:
    document = list_document(
        found(), workloads=workloads, role=role, namespace=namespace, limit=limit, now=101.0
    )
    return [each["name"] for each in document["items"]], document["remaining"]


def test_a_list_is_narrowed_and_bounded() -> None:
    assert listed() == (["web-1", "batch-1", "api-1"], 0)
    assert listed(limit=1) == (["web-1"], 2)
    assert listed(role=NeighbourRole.VICTIM) == (["web-1", "api-1"], 0)
    assert listed(namespace="jobs") == (["batch-1"], 0)
    assert listed(workloads=True, role=NeighbourRole.AGGRESSOR) == (["batch"], 0)


def test_before_the_first_look_a_list_says_so() -> None:
    document = list_document(
        Neighbourhood(), workloads=False, role=None, namespace=None, limit=1, now=1.0
    )
    assert document["items"] == []
    assert "nobody has looked yet" in document["why"]


def test_who_may_see_one_namespace_reads_no_other_names() -> None:
    latest = found()
    web = latest.pods[0]
    assert "jobs/batch-1" in neighbour_document(web, None)["victim"]["why"]
    assert "batch" not in neighbour_document(web, "shop")["victim"]["why"]
    assert [one["aggressor"]["pod"] for one in item_document(web, latest, None)["links"]] == [
        "batch-1"
    ]
    assert item_document(web, latest, "shop")["links"] == []


def test_a_workload_is_shown_with_the_links_of_its_pods() -> None:
    latest = found()
    batch = next(one for one in latest.workloads if one.name == "batch")
    assert len(item_document(batch, latest, None)["links"]) == 2

from nemutator_controller.inventory.documents import Used
from nemutator_controller.inventory.graphs import graph_of

from tests.fakes.inventory import shop


def test_a_graph_names_what_makes_runs_scales_protects_and_reaches() -> None:
    found = shop()
    nodes, edges = graph_of(found.workloads.values(), found)
    by_id = {each.id: each for each in nodes}
    assert len(by_id) == len(nodes)
    web = "Deployment/shop/web"
    relations = {(each.source, each.relation, each.target) for each in edges}
    assert {
        (web, "makes", "Pod/shop/web-1"),
        ("Node/n1", "runs", "Pod/shop/web-1"),
        ("HorizontalPodAutoscaler/shop/web", "scales", web),
        ("PodDisruptionBudget/shop/web", "protects", web),
        ("Service/shop/front", "reaches", web),
    } <= relations
    assert not any(source == "Service/shop/else" for source, _, _ in relations)
    # A bare pod does not make itself, and one that waits runs nowhere.
    assert not any("Pod/shop/db-1" in (source, target) for source, _, target in relations)
    assert by_id[web].requested == Used(1.0, 2 << 30)
    assert all(each.source in by_id and each.target in by_id for each in edges)

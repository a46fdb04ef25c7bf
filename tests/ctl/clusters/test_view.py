from nemutator_ctl.clusters.view import NONE, cluster_answer, view

from tests.ctl.inventories import node, nodes, workload, workloads


def totals() -> dict[str, object]:
    return {
        "nodes": nodes(node("n1"))["totals"],
        "workloads": workloads(workload("web"))["totals"],
    }


def document(*items: dict[str, object], stale: int = 0) -> dict[str, object]:
    whole = {"clusters": len(items), "stale": stale, **totals()}
    return {"now": 100.0, "totals": whole, "items": list(items)}


def cluster(name: str, **more: object) -> dict[str, object]:
    return {
        "name": name,
        "here": False,
        "published_at": 70.0,
        "stale": False,
        "summary": totals(),
        **more,
    }


def test_each_cluster_has_a_line_and_all_have_one() -> None:
    shown = document(
        cluster("east", here=True),
        cluster("west", stale=True, published_at=-300.0),
        cluster("old", summary=None),
        cluster("older", summary=None, stale=True, published_at=0.0),
        stale=2,
    )
    head, east, west, old, older, last = view(cluster_answer(shown)).splitlines()
    assert head.split()[:5] == ["CLUSTER", "SEEN", "NODES", "PODS", "WORKLOADS"]
    assert east.split()[:5] == ["east", "(here)", "30s", "1", "4"]
    assert "8000m" in east
    assert west.split()[:3] == ["west", "400s", "stale"]
    assert old.split()[:4] == ["old", "30s", "unreadable", "-"]
    assert older.split()[:4] == ["older", "-", "stale", "unreadable"]
    assert last.split()[:4] == ["all", "4", "2", "stale"]


def test_without_a_name_there_is_no_cluster() -> None:
    assert view(cluster_answer(document())) == NONE

from nemutator_ctl.inventory_answers import namespace_answer, workload_answer
from nemutator_ctl.workloads.view import NOTHING, namespaces_view, view

from tests.ctl.inventories import namespaces, workload, workloads


def test_a_workload_says_what_it_asks_for_and_uses() -> None:
    text = view(workload_answer(workloads(workload("web"))), wide=False)
    _, row = text.splitlines()
    assert row.split() == (
        [
            "shop",
            "Deployment/web",
            "2/3",
            "1000m",
            "300m",
            "-",
            "-",
            "2048Mi",
            "1024Mi",
            "-",
            "-",
            "4",
            "1",
        ]
    )


def test_wide_says_how_it_is_scaled_and_what_it_moves() -> None:
    two = workload("db", autoscaler=None, vertical_autoscaler=None, disruption_budget=None)
    text = view(workload_answer(workloads(workload("web"), two, remaining=7)), wide=True)
    _, web, db, last, more = text.splitlines()
    assert "25%" in web
    assert "20Ki/s" in web
    assert "2-9, VPA Off" in web
    assert db.split()[-2:] == ["-", "-"]
    assert "all 2" in last
    assert more == "7 more: --limit"


def test_off_clusters_there_are_processes_and_kinds_without_a_number_show_their_pods() -> None:
    unit = workload("api.service", kind="unit", processes=3)
    job = workload("night", replicas={"wanted": None, "ready": 1, "pods": 2, "pending": 0})
    text = view(workload_answer(workloads(unit, job)), wide=False)
    assert "3 processes" in text
    assert "1/2" in text
    assert view(workload_answer(workloads()), wide=False) == NOTHING


def test_namespaces_have_sums_and_quotas() -> None:
    text = namespaces_view(namespace_answer(namespaces("shop", "bank")))
    _, one, _, last = text.splitlines()
    assert one.split()[:4] == ["shop", "1", "2", "0"]
    assert one.endswith("q: cpu 3 of 10")
    assert last.split()[:2] == ["all", "2"]
    assert namespaces_view(namespace_answer(namespaces())) == NOTHING


def test_a_hostile_name_moves_no_cursor() -> None:
    text = view(workload_answer(workloads(workload("\x1b]0;x\x07web"))), wide=True)
    assert text.isprintable() or set(text) - {"\n"} == {c for c in text if c.isprintable()}

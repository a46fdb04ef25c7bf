from nemutator_ctl.inventory_answers import workload_answer
from nemutator_ctl.top.view import view
from nemutator_ctl.workloads.view import NOTHING

from tests.ctl.inventories import workload, workloads


def test_what_is_used_now_stands_first() -> None:
    _, row = view(workload_answer(workloads(workload("web"))), wide=False).splitlines()
    assert row.split() == ["shop", "Deployment/web", "2", "300m", "1024Mi", "-", "-", "20Ki/s", "-"]
    _, row = view(workload_answer(workloads(workload("web"))), wide=True).splitlines()
    assert row.split()[-5:] == ["1000m", "2048Mi", "25%", "4", "2"]
    assert view(workload_answer(workloads()), wide=False) == NOTHING

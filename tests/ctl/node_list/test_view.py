from nemutator_ctl.inventory_answers import node_answer
from nemutator_ctl.node_list.view import NO_NODE, NO_SUCH_NODE, view

from tests.ctl.inventories import GI, UNKNOWN, node, nodes, use


def test_three_lines_of_each_node_and_their_sums() -> None:
    lost = node("n2", age_s=None, stale=True, ready=False, unschedulable=True, used=UNKNOWN)
    text = view(node_answer(nodes(node("n1"), lost)), wide=False)
    head, one, two, last = text.splitlines()
    assert head.split() == (
        [
            "NAME",
            "STATE",
            "SEEN",
            "PODS",
            "CPU",
            "ALLOCATABLE",
            "REQUESTED",
            "USED",
            "MEMORY",
            "ALLOCATABLE",
            "REQUESTED",
            "USED",
        ]
    )
    assert one.split() == (
        [
            "n1",
            "Ready",
            "3s",
            "2/110",
            "4000m",
            "1000m",
            "(25%)",
            "500m",
            "(12%)",
            "8192Mi",
            "2048Mi",
            "(25%)",
            "1024Mi",
            "(12%)",
        ]
    )
    assert two.split()[:4] == ["n2", "NotReady,SchedulingDisabled,unreported", "-", "2/110"]
    assert last.split()[:4] == ["all", "2", "1", "stale"]


def test_a_machine_alone_is_live_and_has_no_sums_of_one() -> None:
    text = view(node_answer(nodes(node("vm", ready=None, most_pods=None))), wide=False)
    assert len(text.splitlines()) == 2
    assert text.splitlines()[1].split()[:4] == ["vm", "live", "3s", "2"]
    assert view(node_answer(nodes()), wide=True) == NO_NODE
    assert view(node_answer(nodes()), wide=True, chosen=True) == NO_SUCH_NODE


def test_wide_names_what_is_wrong() -> None:
    conditions = [
        {"type": "Ready", "status": "Unknown"},
        {"type": "DiskPressure", "status": "True"},
    ]
    bad = node("n1", conditions=conditions, taints=["a:NoSchedule"])
    text = view(node_answer(nodes(bad, node("n2"))), wide=True)
    assert "Ready,DiskPressure   a:NoSchedule" in text
    assert text.splitlines()[2].split()[-2:] == ["-", "-"]


def test_wide_has_what_is_wasted_where_the_brain_says_it() -> None:
    wasting = node("n1", waste=use(0.3, GI))
    head, one, two, _ = view(node_answer(nodes(wasting, node("n2"))), wide=True).splitlines()
    assert "CPU WASTE" in head
    assert one.split()[-4:] == ["300m", "1024Mi", "-", "-"]
    assert two.split()[-4:] == ["-", "-", "-", "-"]


def test_a_hostile_name_moves_no_cursor() -> None:
    text = view(node_answer(nodes(node("\x1b[2Jn1", used=use(0.0, 0)))), wide=False)
    assert "\x1b" not in text
    assert "\\x1b[2Jn1" in text

from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.nodes import decode
from nemutator_ctl.topology.view import view

from tests.ctl.topologies import document, process, workload


def test_a_node_as_a_person_sees_it() -> None:
    fact = {"what": "CPU of groups", "why": "no controller", "remedy": "x"}
    nodes = decode(
        document(workloads=[workload("/a")], processes=[process(1, "/a")], missing=[fact])
    )
    assert view(nodes).splitlines() == [
        "one: kernel 6.18, seen 1 s ago",
        "  CPU 500m of 2 cores, memory 1024Mi of 8192Mi",
        "  waiting for CPU 2.0%, for memory 0.0%, for I/O - of the last 10 s",
        "  cannot be seen: CPU of groups: no controller",
        "NAME        KIND       CPU   MEMORY   CPU WAIT   MEM WAIT   IO WAIT   RUNTIME",
        "  /a        slice     250m      3Mi       1.5%          -         -",
        "    1 app   process      -      1Mi          -          -         -",
    ]


def test_without_a_node_it_says_so() -> None:
    assert view(()) == "No node has reported yet.\n"


@given(st.text(), st.text())
def test_names_cannot_draw_on_the_terminal(name: str, why: str) -> None:
    hostile = document(
        workloads=[workload("/a") | {"name": name, "kind": why}],
        processes=[process(1, name) | {"command": why}],
        missing=[{"what": name, "why": why, "remedy": name}],
    )
    hostile["nodes"][0] |= {"name": name}
    text = view(decode(hostile))
    assert all(line.isprintable() for line in text.split("\n"))

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.nodes import decode, decode_list
from nemutator_ctl.topology.view import LABELS, MOST_NAMED, list_view, nothing_found, view

from tests.ctl.topologies import document, listing, process, workload


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


def test_programs_that_live_for_seconds_are_one_row_until_they_are_asked_for() -> None:
    told = document(
        workloads=[workload("/a")],
        processes=[
            process(1, "/a") | {"started_at": 995.0},
            process(2, "/a") | {"started_at": 5.0},
            process(3, "/a") | {"started_at": 999.0},
        ],
    )
    told["nodes"][0]["seen_at"] = 1000.0
    nodes = decode(told)
    names = [line.split()[:2] for line in view(nodes).splitlines()[4:]]
    assert names == [["/a", "slice"], ["2", "app"], ["2", "programs"]]
    assert "2 programs that live for seconds" in view(nodes)
    assert "programs that live" not in view(nodes, brief=True)
    assert "3 app" in view(nodes, brief=True)


def test_one_that_has_just_started_is_shown_by_itself() -> None:
    told = document(workloads=[], processes=[process(1, "/a") | {"started_at": 999.0}])
    told["nodes"][0]["seen_at"] = 1000.0
    assert "1 app" in view(decode(told))


def test_what_disks_and_network_move_is_shown_where_it_is_told() -> None:
    told = document(workloads=[], processes=[])
    told["nodes"][0]["machine"]["throughput"] = {
        "disk_read": 0.0,
        "disk_written": 61440.0,
        "network_received": 50.0 * (1 << 20),
        "network_sent": None,
    }
    assert "  disks read 0Ki/s, written 60Ki/s; network received 50Mi/s, sent -\n" in view(
        decode(told)
    )


def test_what_nobody_counts_is_a_sum_and_a_script_tells_programs_apart() -> None:
    summed = workload("/a") | {"cpu_is_summed": True}
    scripted = process(1, "/a") | {"command": "python3", "script": "/srv/main.py"}
    text = view(decode(document(workloads=[summed], processes=[scripted])))
    assert "~250m" in text
    assert "1 python3 /srv/main.py" in text


@pytest.mark.parametrize(
    ("runtime", "version", "shown"),
    [
        ("go", "go1.26.8", "go 1.26.8"),
        ("python", "3.11", "python 3.11"),
        ("go", None, "go"),
        (None, None, ""),
    ],
)
def test_a_runtime_is_named_once(runtime: str | None, version: str | None, shown: str) -> None:
    one: dict[str, Any] = process(1, "/a") | {"runtime": runtime, "runtime_version": version}
    text = view(decode(document(workloads=[], processes=[one])))
    assert text.splitlines()[-1].split()[8:] == shown.split()


def test_without_a_node_it_says_so() -> None:
    for said in (view(()), list_view(()), nothing_found(None, namespace="x", selector=None)):
        assert said == "No node has reported yet.\n"


def test_several_nodes_are_a_line_each_and_their_sum() -> None:
    assert list_view(decode_list(listing("node-1", "b"))).splitlines() == [
        "NAME     STATE   SEEN     CPU   OF   MEMORY        OF   CPU WAIT   MEM WAIT   IO WAIT   PROCESSES",
        "node-1   live      3s    500m    2   1024Mi    8192Mi       2.0%       0.0%         -          42",
        "b        live      3s    500m    2   1024Mi    8192Mi       2.0%       0.0%         -          42",
        "all 2    live           1000m    4   2048Mi   16384Mi                                          84",
    ]


@pytest.mark.parametrize(
    ("namespace", "selector", "said"),
    [
        ("nope", None, "There is no namespace nope, but a, b.\n"),
        ("nope", "kind=unit", "There is no namespace nope, but a, b.\n"),
        ("a", "kind=x", f"Nothing has the labels kind=x; there are {LABELS}.\n"),
        ("\x1b[2J", None, "There is no namespace \\x1b[2J, but a, b.\n"),
    ],
)
def test_that_nothing_is_found_is_said_with_what_there_is(
    namespace: str | None, selector: str | None, said: str
) -> None:
    assert nothing_found({"b", "a"}, namespace=namespace, selector=selector) == said


def test_of_many_namespaces_the_first_are_named() -> None:
    crowded = [f"n{number:03}" for number in range(99)]
    said = nothing_found(crowded, namespace="x", selector=None)
    assert said.count("n0") == MOST_NAMED
    assert said.endswith("n019 and 79 more.\n")


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


def test_a_machine_shows_its_disks_and_interfaces() -> None:
    raw = document(workloads=[], processes=[])
    raw["nodes"][0]["machine"] |= {
        "file_systems": [
            {
                "path": "/\x1b[2J",
                "device": "/dev/vda1",
                "kind": "ext4",
                "total_bytes": 50 << 30,
                "used_bytes": 10 << 30,
            }
        ],
        "interfaces": [
            {"name": "eth0", "traffic": {"received": 2048.0, "sent": None}, "is_up": False}
        ],
    }
    text = view(decode(raw))
    assert "/\\x1b[2J (ext4 on /dev/vda1): 10240Mi of 51200Mi used" in text
    assert "eth0 (down): received 2Ki/s, sent -" in text

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.nodes import ResourceWait, ShownWorkload, decode, decode_list

from tests.ctl.topologies import document, listing, process, workload


def test_a_process_stands_below_its_workload_and_workloads_by_their_place() -> None:
    (node,) = decode(
        document(
            workloads=[workload("/b"), workload("/a/x"), workload("/a")],
            processes=[process(1, "/b"), process(2, "/a"), process(3, "/gone")],
        )
    )
    rows = [row.path if isinstance(row, ShownWorkload) else row.pid for row in node.rows()]
    assert rows == ["/a", 2, "/a/x", "/b", 1, 3]


def test_what_is_not_known_stays_unknown() -> None:
    (node,) = decode(document(workloads=[workload("/a") | {"cpu_cores": None}], processes=[]))
    (row,) = node.workloads
    assert row.cpu_cores is None
    assert row.pressures == {"cpu": ResourceWait(1.5), "memory": None, "io": None}
    assert node.machine.cpus == 2


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("nodes"), inner),
    max_leaves=5,
)


def code_of(answer: object, read: Callable[[object], object] = decode) -> ExitCode:
    try:
        read(answer)
    except OperatorError as error:
        return error.code
    return ExitCode.OK


@given(JSON)
def test_whatever_is_answered_is_a_topology_or_a_clear_error(answer: object) -> None:
    assert code_of(answer) in (ExitCode.OK, ExitCode.UNREACHABLE)
    assert code_of(answer, decode_list) in (ExitCode.OK, ExitCode.UNREACHABLE)


@given(st.data())
def test_a_topology_with_one_wrong_value_is_an_error_and_no_defect(data: st.DataObject) -> None:
    broken = document(workloads=[workload("/a")], processes=[process(1, "/a")])
    node = broken["nodes"][0]
    part = data.draw(
        st.sampled_from([node, node["machine"], node["workloads"][0], node["processes"][0]])
    )
    part[data.draw(st.sampled_from(sorted(part)))] = data.draw(JSON)
    assert code_of(broken) in (ExitCode.OK, ExitCode.UNREACHABLE)


def test_a_list_of_nodes_has_the_sums_of_each() -> None:
    (node,) = decode_list(listing("n1"))
    assert (node.name, node.stale, node.age_s, node.sums.processes) == ("n1", False, 3.2, 42)
    assert node.sums.waiting == {"cpu": 2.0, "memory": 0.0, "io": None}


@given(st.data())
def test_a_list_with_one_wrong_value_is_an_error_and_no_defect(data: st.DataObject) -> None:
    broken = listing("n1")
    node = broken["items"][0]
    part = data.draw(st.sampled_from([node, node["sums"], node["sums"]["waiting"]]))
    part[data.draw(st.sampled_from(sorted(part)))] = data.draw(JSON)
    assert code_of(broken, decode_list) in (ExitCode.OK, ExitCode.UNREACHABLE)

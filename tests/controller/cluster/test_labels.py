from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.cluster.labels import labels_of, namespace_of, runtimes_by_workload

from tests.fakes.batches import process, workload


@pytest.mark.parametrize(
    ("path", "namespace"),
    [
        ("/", "/"),
        ("/system.slice", "system.slice"),
        ("/system.slice/ssh.service", "system.slice"),
        ("/../x", ".."),
    ],
)
def test_the_namespace_is_the_first_element(path: str, namespace: str) -> None:
    assert namespace_of(path) == namespace


@given(st.text())
def test_every_path_has_a_namespace(path: str) -> None:
    assert namespace_of("/" + path)


def test_a_workload_has_a_runtime_when_its_processes_agree() -> None:
    processes = [
        process(1, of="/a", runtime="go"),
        process(2, of="/a", runtime=None),
        process(3, of="/b", runtime="go"),
        process(4, of="/b", runtime="python"),
        process(5, of="/c", runtime=None),
    ]
    assert runtimes_by_workload(processes) == {"/a": "go"}


def test_only_what_is_known_is_a_label() -> None:
    plain = labels_of(workload(), node="n1", runtime=None)
    assert plain == {
        "kind": "unit",
        "name": "ssh.service",
        "node": "n1",
        "namespace": "system.slice",
    }
    pod = replace(workload(), kind="container", pod_uid="p", container_id="c")
    labels = labels_of(pod, node="n1", runtime="go")
    assert {key: labels[key] for key in ("pod", "container", "runtime")} == {
        "pod": "p",
        "container": "c",
        "runtime": "go",
    }

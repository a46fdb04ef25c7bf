from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from nemutator_controller.cluster.labels import (
    labels_of,
    name_of,
    namespace_of,
    runtimes_by_workload,
)
from nemutator_controller.cluster.pods import PodOwner, RunningPod

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


PLACED = RunningPod("shop", "web-1", "u1", "app", PodOwner("Deployment", "web"))


def test_a_container_of_a_known_pod_has_its_names() -> None:
    labels = labels_of(
        replace(workload("/kubepods/podu1/c1"), kind="container", container_id="c1", pod_uid="u1"),
        node="n1",
        runtime=None,
        placed=PLACED,
    )
    assert labels == {
        "kind": "container",
        "name": "app",
        "node": "n1",
        "namespace": "shop",
        "pod": "web-1",
        "container": "app",
        "owner": "Deployment/web",
    }


def test_a_pod_is_called_by_its_name_and_a_nameless_container_as_before() -> None:
    of_pod = replace(workload("/kubepods/podu1"), kind="pod", name="u1", pod_uid="u1")
    assert name_of(of_pod, structs.replace(PLACED, container=None)) == "web-1"
    sandbox = replace(of_pod, kind="container", name="c2", container_id="c2")
    assert name_of(sandbox, structs.replace(PLACED, container=None)) == "c2"
    assert name_of(sandbox, None) == "c2"

"""Shapes keep what we use, share equal strings, and give the collector nothing to visit."""

import gc
import json

from nemutator_controller.kube.decoder import Decoder
from nemutator_controller.kube.objects import Pod

from tests.controller.kube.pods import pod

DECODER = Decoder(Pod)


def decoded(name: str, **metadata: object) -> Pod:
    manifest = pod(name, nodeName="node-1")
    manifest["metadata"].update(metadata)
    return DECODER.object(json.dumps(manifest).encode())


def test_equal_strings_are_one_string() -> None:
    one, two = (decoded(name, labels={"app": "a-long-label-value"}) for name in "ab")
    assert one.metadata.labels["app"] is two.metadata.labels["app"]
    assert one.spec.node_name is two.spec.node_name
    assert one.metadata.namespace is two.metadata.namespace


def test_moments_of_one_second_are_one_string() -> None:
    when = "2026-01-01T00:00:07Z"
    one, two = (decoded(name, creationTimestamp=when) for name in "ab")
    assert one.metadata.creation_timestamp == when
    assert one.metadata.creation_timestamp is two.metadata.creation_timestamp


def test_annotations_of_others_are_dropped() -> None:
    annotations = {"nemutator.io/skip": "true", "kubectl/last-applied": "x" * 10_000}
    assert decoded("a", annotations=annotations).metadata.annotations == {
        "nemutator.io/skip": "true"
    }


def test_what_is_not_there_is_one_and_the_same_nothing() -> None:
    manifest = pod("a")
    manifest["status"] = {"containerStatuses": [{"name": "app"}]}
    one = DECODER.object(json.dumps(manifest).encode())
    two = decoded("b", annotations={"kubectl/last-applied": "x"})
    nothing = one.metadata.labels
    assert nothing == {}
    [status] = one.status.container_statuses
    for other in (
        one.metadata.annotations, two.metadata.annotations, two.metadata.labels, one.spec.overhead,
        status.allocated_resources, status.resources.requests, status.resources.limits,
    ):  # fmt: skip
        assert other is nothing


def test_the_controller_is_the_owner_that_says_so() -> None:
    owners = [
        {"kind": "Node", "name": "n", "uid": "1"},
        {"kind": "ReplicaSet", "name": "r", "uid": "2", "controller": True},
    ]
    controller = decoded("a", ownerReferences=owners).metadata.controller
    assert controller is not None
    assert controller.name == "r"
    assert decoded("a").metadata.controller is None


def test_the_collector_visits_no_object() -> None:
    assert not gc.is_tracked(decoded("a"))
    assert not gc.is_tracked(decoded("a").metadata)

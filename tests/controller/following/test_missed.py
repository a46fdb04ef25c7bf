from typing import Any

import pytest
from nemutator_common import names
from nemutator_controller.following.missed import (
    MIRROR,
    MissedPod,
    may_be_missed,
    missed_of,
    moment_of,
)
from nemutator_controller.following.records import FollowedObject
from nemutator_controller.mutations.decisions import pod_subject
from nemutator_controller.mutations.injection import INIT_CONTAINER
from nemutator_controller.mutations.paths import PathError
from nemutator_controller.policies.plans import Situation
from nemutator_controller.policies.snapshot import snapshot_of

from tests.fakes.followed_pods import running_pod

REQUIRED: Any = {names.INJECT: "required"}


def policy(**more: Any) -> Any:
    return {"mode": "Apply", "mutations": [{"labels": {"set": {"team": "a"}}}]} | more


def seen(document: Any, *, stamp: str = "") -> FollowedObject:
    metadata = document["metadata"]
    subject = pod_subject(metadata["namespace"], metadata["name"], metadata["uid"])
    return FollowedObject(
        subject=subject, version="1", stamp=stamp, labels=metadata.get("labels") or {}
    )


def missed(document: Any, **specs: Any) -> MissedPod | None:
    """As the engine finds it: from what the watch shows, then from the whole pod."""
    one, policies = seen(document), snapshot_of(specs).for_pods
    situation = Situation(subject=one.subject, namespace_labels={})
    if not may_be_missed(one, situation, policies):
        return None
    return missed_of(one, document, situation, policies)


def test_a_pod_that_a_policy_would_have_changed_was_missed() -> None:
    found = missed(running_pod(), team=policy(), other=policy(match={"namespaces": ["bank"]}))
    assert found is not None
    assert (found.policies, found.is_required) == (("team",), False)
    assert str(found) == ("admission has not seen this pod: it runs without the policies team")


def test_a_pod_that_requires_injection_was_missed_where_it_has_none() -> None:
    found = missed(running_pod(labels=REQUIRED), team=policy())
    assert found is not None
    assert found.is_required
    assert str(found).endswith(
        "without the policies team and without the injection that nemutator.io/inject=required asks for"
    )
    injected = running_pod(labels=REQUIRED)
    injected["spec"]["initContainers"] = [{"name": INIT_CONTAINER}]
    assert missed(injected) is None


def test_a_policy_that_is_for_the_pod_may_want_it_made_anew() -> None:
    gone = policy(missed="Evict")
    found = missed(running_pod(labels=REQUIRED), team=policy(), gone=gone)
    assert found is not None
    assert found.is_to_go
    elsewhere = missed(
        running_pod(), team=policy(), gone=gone | {"match": {"namespaces": ["bank"]}}
    )
    assert elsewhere is not None
    assert not elsewhere.is_to_go


@pytest.mark.parametrize(
    "pod",
    [
        running_pod(labels={"team": "a"}),
        running_pod(namespace="kube-system", labels=REQUIRED),
        running_pod(annotations={str(names.SKIP): "true"}, labels=REQUIRED),
        running_pod(annotations={str(names.SKIP_MUTATION): "patch"}),
        running_pod(annotations={MIRROR: "x"}, labels=REQUIRED),
        running_pod(annotations={str(names.MUTATION): '{"id": "d1"}'}, labels=REQUIRED),
    ],
)
def test_what_admission_would_not_change_was_not_missed(pod: Any) -> None:
    assert missed(pod, team=policy()) is None


@pytest.mark.parametrize(
    "spec",
    [
        policy(mode="Preview"),
        policy(match={"users": ["anna"]}),
        policy(match={"images": ["docker.io/library/redis"]}),
        policy(applyTo="template"),
        policy(mutations=[{"resources": {"limits": {"memory": {"value": "2Gi"}}}}]),
    ],
)
def test_a_policy_that_does_not_change_it_for_certain_does_not_count(spec: Any) -> None:
    assert missed(running_pod(), team=spec) is None


def test_a_pod_that_has_a_stamp_is_not_read() -> None:
    one = seen(running_pod(labels=REQUIRED), stamp='{"id": "d1"}')
    assert not may_be_missed(one, Situation(subject=one.subject), ())


@pytest.mark.parametrize(
    "broken", [{}, {"metadata": {}}, {"metadata": {}, "spec": {"initContainers": 1}}]
)
def test_what_is_not_shaped_like_a_pod_is_refused(broken: Any) -> None:
    one = seen(running_pod())
    with pytest.raises(PathError):
        missed_of(one, broken, Situation(subject=one.subject), ())


def test_a_moment_is_read_as_an_api_server_writes_it() -> None:
    assert moment_of("2023-11-14T22:13:20Z") == 1_700_000_000
    assert moment_of("") is None
    assert moment_of("yesterday") is None

from typing import Any

import msgspec
from nemutator_common import names
from nemutator_common.admission_snapshots import UnwantedLabels
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.workload_objects import WatchedWorkload
from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.stamps import Stamp, written
from nemutator_controller.pod_selection.unwanted_labels import LATELY_S, MOST_LET_GO, KnownUnwanted

MADE = "2026-01-01T00:00:00Z"
AT = 1_767_225_600.0
WITHOUT = {"key": "legacy", "operator": "DoesNotExist"}
LABEL = Edit(path="metadata.labels[team]", before=(), after=("a",), verb="labels", policy="p")
CHANGED = Edit(path="metadata.labels[app]", before=("x",), after=("a",), verb="labels", policy="p")


def workload(*expressions: Any, name: str = "web") -> WatchedWorkload:
    document = {
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": "web"}, "matchExpressions": expressions}},
    }
    return msgspec.convert(document, WatchedWorkload)


def pod(*, owner: str = "web-1", stamp: str = written(Stamp("d", (LABEL, CHANGED)))) -> Pod:
    metadata: dict[str, Any] = {"name": "web-1-x", "namespace": "shop", "creationTimestamp": MADE}
    metadata["annotations"] = {names.MUTATION: stamp}
    if owner:
        of = {"kind": "ReplicaSet", "name": owner, "uid": "u", "controller": True}
        metadata["ownerReferences"] = [of]
    return msgspec.convert({"metadata": metadata, "spec": {"containers": []}}, Pod)


def item(kind: str, owner: str, *keys: str) -> UnwantedLabels:
    return UnwantedLabels(namespace="shop", owner_kind=kind, owner=owner, keys=keys)


def test_what_selectors_exclude_is_told_until_they_are_gone() -> None:
    known = KnownUnwanted()
    other = {"key": "tier", "operator": "NotIn", "values": ["old"]}
    assert known.see("Deployment", workload(other, WITHOUT))
    assert not known.see("Deployment", workload(other, WITHOUT))
    assert not known.see("StatefulSet", workload({"key": "a", "operator": "Exists"}))
    assert known.told().items == (item("Deployment", "web", "legacy", "tier"),)
    assert known.of(("shop", "Deployment", "web")) == {"legacy", "tier"}
    assert known.forget("Deployment", "shop/web")
    assert not known.forget("Deployment", "shop/web")
    assert known.told().items == ()


def test_a_list_takes_the_place_of_what_was_known_of_its_kind_alone() -> None:
    known = KnownUnwanted()
    known.replace("Deployment", [workload(WITHOUT), workload(WITHOUT, name="api")])
    known.replace("StatefulSet", [workload(WITHOUT)])
    known.replace("Deployment", [workload(name="web")])
    assert known.told().items == (item("StatefulSet", "web", "legacy"),)


def test_jobs_of_a_cron_job_count_as_that_one_as_they_do_at_admission() -> None:
    known = KnownUnwanted()
    known.see("Job", workload(WITHOUT, name="nightly-29400000"))
    assert known.told().items == (item("CronJob", "nightly", "legacy"),)


def test_a_pod_that_is_let_go_at_once_says_what_its_workload_does_not_want() -> None:
    known = KnownUnwanted()
    assert known.learn(pod(), pod(owner=""), now=AT + 1) == ("shop", "ReplicaSet", "web-1")
    assert known.told().items == (item("ReplicaSet", "web-1", "team"),)
    # The next one says nothing new.
    assert known.learn(pod(), pod(owner=""), now=AT + 2) is None


def test_other_changes_of_a_pod_say_nothing() -> None:
    known = KnownUnwanted()
    for before, after, now in (
        (pod(), pod(), AT),
        (pod(owner=""), pod(owner=""), AT),
        (pod(owner=""), pod(), AT),
        (pod(), pod(owner=""), AT + LATELY_S + 1),
        (pod(), pod(owner="", stamp=""), AT),
        (pod(), pod(owner="", stamp="{"), AT),
        (pod(), pod(owner="", stamp=written(Stamp("d", (CHANGED,)))), AT),
        (pod(), pod(owner="", stamp=written(Stamp("d", None))), AT),
    ):
        assert known.learn(before, after, now=now) is None
    assert known.told().items == ()


def test_of_a_workload_whose_selector_is_known_nothing_is_learned() -> None:
    known = KnownUnwanted()
    known.see("ReplicaSet", workload(WITHOUT, name="web-1"))
    assert known.learn(pod(), pod(owner=""), now=AT) is None
    assert known.told().items == (item("ReplicaSet", "web-1", "legacy"),)


def test_what_is_learned_has_bounds() -> None:
    known = KnownUnwanted()
    for number in range(MOST_LET_GO + 10):
        known.learn(pod(owner=f"web-{number}"), pod(owner=""), now=AT)
    assert len(known.told().items) == MOST_LET_GO

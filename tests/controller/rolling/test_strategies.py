from typing import Any

import pytest
from nemutator_controller.rolling import strategies

from tests.fakes.rolls import USUAL, merged

DEPLOYMENT, STATEFUL_SET, DAEMON_SET = "Deployment", "StatefulSet", "DaemonSet"


def workload(kind: str = DEPLOYMENT, strategy: Any = USUAL, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"generation": 3}, "spec": {strategies.FIELDS[kind]: strategy, **spec}}


def begun(kind: str, document: dict[str, Any]) -> dict[str, Any]:
    return merged(document, strategies.begun(kind, document, "r1"))


@pytest.mark.parametrize(
    ("kind", "strategy"),
    [
        (DEPLOYMENT, USUAL),
        (DEPLOYMENT, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 3}}),
        (DEPLOYMENT, {}),
        (DEPLOYMENT, strategies.SLOW[DEPLOYMENT]),
        (STATEFUL_SET, {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "50%"}}),
        (STATEFUL_SET, {"type": "RollingUpdate"}),
        (DAEMON_SET, {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "30%"}}),
        (DAEMON_SET, {}),
    ],
)
def test_a_workload_is_slow_while_it_is_rolled_and_then_as_it_was(kind: str, strategy: Any) -> None:
    before = workload(kind, strategy)
    rolled = begun(kind, before)
    assert rolled["spec"][strategies.FIELDS[kind]] == strategies.SLOW[kind]
    assert strategies.is_begun(rolled, "r1")
    assert not strategies.is_begun(before, "r1")
    assert not strategies.is_begun(rolled, "r2")
    change = strategies.ended(kind, rolled, strategies.remembered(kind, before))
    after = merged(rolled, change or {})
    assert after["spec"][strategies.FIELDS[kind]] == strategy
    assert strategies.ended(kind, after, strategy) is None


def test_a_strategy_that_somebody_else_has_set_meanwhile_is_left() -> None:
    rolled = begun(DEPLOYMENT, workload())
    rolled["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] = 2
    assert strategies.ended(DEPLOYMENT, rolled, USUAL) is None


@pytest.mark.parametrize(
    ("kind", "document", "why"),
    [
        (DEPLOYMENT, workload(), ""),
        (DEPLOYMENT, workload(strategy={"type": "Recreate"}), "Recreate"),
        (DEPLOYMENT, workload(paused=True), "paused"),
        (DEPLOYMENT, workload(replicas=0), "no replicas"),
        (STATEFUL_SET, workload(STATEFUL_SET, {"type": "OnDelete"}), "OnDelete"),
        (
            STATEFUL_SET,
            workload(STATEFUL_SET, {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}),
            "partition",
        ),
        (DAEMON_SET, workload(DAEMON_SET, {"type": "OnDelete"}), "OnDelete"),
        (DAEMON_SET, workload(DAEMON_SET), "no node has a pod"),
        (
            DAEMON_SET,
            workload(DAEMON_SET) | {"status": {"desiredNumberScheduled": 3}},
            "",
        ),
        (DEPLOYMENT, {}, ""),
        (DEPLOYMENT, {"spec": []}, ""),
    ],
)
def test_what_cannot_be_rolled_says_why(kind: str, document: Any, why: str) -> None:
    found = strategies.why_not(kind, document)
    assert why in found
    assert bool(why) is bool(found)


def test_a_roll_is_done_when_all_pods_are_new_and_available() -> None:
    document = workload(replicas=2) | {
        "status": {
            "observedGeneration": 3,
            "replicas": 2,
            "updatedReplicas": 2,
            "availableReplicas": 2,
        }
    }
    assert strategies.status(DEPLOYMENT, document).is_done
    for field, value in (
        ("observedGeneration", 2),
        ("updatedReplicas", 1),
        ("availableReplicas", 1),
        ("replicas", 3),
    ):
        other = document | {"status": document["status"] | {field: value}}
        assert not strategies.status(DEPLOYMENT, other).is_done, field
    assert strategies.status(DEPLOYMENT, {}).progress == 0
    assert strategies.status(DEPLOYMENT, document).size == 2
    assert strategies.status(DEPLOYMENT, document | {"spec": {"replicas": 1}}).size == 2


def test_of_a_daemon_set_the_pods_of_its_nodes_count() -> None:
    counts = {
        "observedGeneration": 3,
        "desiredNumberScheduled": 2,
        "currentNumberScheduled": 2,
        "updatedNumberScheduled": 2,
        "numberAvailable": 2,
    }
    document = workload(DAEMON_SET, replicas=7) | {"status": counts}
    assert strategies.status(DAEMON_SET, document).is_done
    for field in counts:
        other = document | {"status": counts | {field: 1}}
        assert not strategies.status(DAEMON_SET, other).is_done, field


@pytest.mark.parametrize(
    ("kind", "strategy", "faster"),
    [
        (DAEMON_SET, {}, False),
        (DAEMON_SET, {"rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}, False),
        (DAEMON_SET, {"rollingUpdate": {"maxUnavailable": "10%"}}, True),
        (DAEMON_SET, {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}, True),
        (STATEFUL_SET, {"rollingUpdate": {"partition": 0}}, False),
        (STATEFUL_SET, {"rollingUpdate": {"maxUnavailable": 2}}, True),
        # It is paused, whatever its strategy is.
        (DEPLOYMENT, USUAL, False),
    ],
)
def test_what_cannot_be_paused_may_go_on_faster(kind: str, strategy: Any, faster: bool) -> None:
    assert strategies.goes_on_faster(kind, strategy) is faster

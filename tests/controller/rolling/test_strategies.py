from typing import Any

import pytest
from nemutator_controller.rolling import strategies

from tests.fakes.rolls import USUAL, merged

DEPLOYMENT, STATEFUL_SET = "Deployment", "StatefulSet"


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
    assert strategies.status(document).is_done
    for field, value in (
        ("observedGeneration", 2),
        ("updatedReplicas", 1),
        ("availableReplicas", 1),
        ("replicas", 3),
    ):
        other = document | {"status": document["status"] | {field: value}}
        assert not strategies.status(other).is_done, field
    assert strategies.status({}).progress == 0
    assert strategies.status(document).size == 2
    assert strategies.status(document | {"spec": {"replicas": 1}}).size == 2

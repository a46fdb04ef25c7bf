"""What is said of a policy: only what is new, and since when it is so."""

from typing import Any

import msgspec
from nemutator_controller.kube.objects import Metadata
from nemutator_controller.policies.conditions import SeasonForce, due
from nemutator_controller.policies.objects import PolicyCondition, PolicyObject, PolicyStatus

NOW = 1_700_000_000.0
MOMENT = "2023-11-14T22:13:20Z"
SOUND = {"mutations": [{"labels": {"set": {"team": "a"}}}]}
FAULTY = {"mutations": [{"labels": {"set": {"team": "not a value!"}}}]}


def policy(
    name: str, spec: Any, *, generation: int = 1, said: PolicyCondition | None = None
) -> PolicyObject:
    return PolicyObject(
        metadata=Metadata(name=name, generation=generation),
        spec=spec,
        status=PolicyStatus(() if said is None else (said,)),
    )


def test_a_fault_is_told_in_the_words_of_policy_test() -> None:
    [(sound, (good,)), (faulty, (bad,))] = due([policy("a", SOUND), policy("b", FAULTY)], now=NOW)
    assert (sound.metadata.name, faulty.metadata.name) == ("a", "b")
    assert good == PolicyCondition(
        type="Ready",
        status="True",
        reason="Sound",
        observed_generation=1,
        last_transition_time=MOMENT,
    )
    assert (bad.status, bad.reason) == ("False", "Faulty")
    assert bad.message.startswith("spec.mutations[0].labels.set[team]: expected a label's key")


def test_what_has_been_said_is_not_said_again() -> None:
    [(_, (said,))] = due([policy("a", SOUND)], now=NOW)
    assert due([policy("a", SOUND, said=said)], now=NOW + 60) == []


def test_a_new_generation_is_judged_anew_and_keeps_since_when() -> None:
    [(_, (said,))] = due([policy("a", SOUND)], now=NOW)
    [(_, (again,))] = due([policy("a", SOUND, generation=2, said=said)], now=NOW + 60)
    assert again == msgspec.structs.replace(said, observed_generation=2)
    [(_, (now_bad,))] = due([policy("a", FAULTY, generation=2, said=said)], now=NOW + 60)
    assert now_bad.last_transition_time == "2023-11-14T22:14:20Z"


def test_a_long_fault_is_cut() -> None:
    [(_, (bad,))] = due([policy("a", {"mutations": [{}] * 33} | {"mode": "x" * 9000})], now=NOW)
    assert 0 < len(bad.message) <= 4096


def test_whether_its_season_is_now_is_told_beside_it() -> None:
    force = {"a": SeasonForce(in_force=True, why="the season of the cluster is peak")}
    [(_, (ready, in_force))] = due([policy("a", SOUND)], now=NOW, forces=force)
    assert ready.type == "Ready"
    assert (in_force.type, in_force.status, in_force.reason) == ("InForce", "True", "InSeason")
    assert in_force.message == "the season of the cluster is peak"

    told = PolicyObject(
        metadata=Metadata(name="a", generation=1),
        spec=SOUND,
        status=PolicyStatus((ready, in_force)),
    )
    assert due([told], now=NOW + 60, forces=force) == []
    # It names no season any more.
    assert due([told], now=NOW + 60) == [(told, (ready,))]

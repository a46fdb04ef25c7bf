from dataclasses import replace
from typing import Any

import pytest
from nemutator_common import names
from nemutator_controller.journal.decision_stamps import (
    about,
    concerns,
    decision_from,
    known_from,
    stamp_on,
)
from nemutator_controller.journal.live_objects import LiveObject
from nemutator_controller.journal.records import JournalEntry, PodStamp
from nemutator_controller.mutations.stamps import Stamp, written

from tests.fakes.decisions import EDITS, POD, changed_pod, decision

FOUND = replace(POD, uid="u1", owner_kind="", owner_name="")


def live(stamp: str | None = None, **metadata: Any) -> LiveObject:
    pod = changed_pod()
    if stamp is not None:
        pod["metadata"]["annotations"] = {names.MUTATION: stamp}
    pod["metadata"] |= metadata
    return LiveObject(subject=FOUND, document=pod, version="1")


def entry(**subject: Any) -> JournalEntry:
    one = decision(subject=replace(POD, **subject))
    return JournalEntry(decision=one, state="answered", writer="a")


OWNED = {
    "labels": {"pod-template-hash": "7f9"},
    "ownerReferences": [
        {"kind": "Other", "name": "x"},
        {"kind": "ReplicaSet", "name": "web-7f9", "controller": True},
    ],
}


def test_a_mark_is_a_decision_about_the_pod_that_carries_it() -> None:
    pod = live(written(Stamp("d9", EDITS)), **OWNED)
    stamp = stamp_on(pod)
    assert stamp is not None
    found = decision_from(stamp, pod)
    assert found is not None
    assert (found.id, found.edits, found.mode) == ("d9", EDITS, "apply")
    assert found.subject == replace(FOUND, owner_kind="Deployment", owner_name="web")


def test_a_mark_without_its_edits_tells_only_its_id() -> None:
    pod = live('{"id": "d9"}')
    stamp = stamp_on(pod)
    assert stamp is not None
    assert decision_from(stamp, pod) is None


@pytest.mark.parametrize("text", [None, "", "nonsense", '{"id": ""}', '{"id": "%s"}' % ("x" * 65)])
def test_what_is_no_mark_is_none(text: str | None) -> None:
    assert stamp_on(live(text)) is None


@pytest.mark.parametrize(
    ("subject", "is_it"),
    [
        ({}, True),
        ({"uid": "u1"}, True),
        ({"uid": "u2"}, False),
        ({"name": "web-2"}, False),
        ({"name": "", "generate_name": "web-"}, True),
        ({"name": "", "generate_name": "api-"}, False),
        ({"namespace": "other"}, False),
        ({"kind": "Deployment"}, False),
    ],
)
def test_a_copied_mark_does_not_make_a_decision_about_this_pod(
    subject: dict[str, Any], is_it: bool
) -> None:
    assert concerns(entry(**subject), live()) is is_it


def test_a_decision_learns_the_name_of_its_object() -> None:
    unnamed = decision(subject=replace(POD, name=""))
    assert about(unnamed, FOUND).subject == replace(POD, uid="u1")


PODS_STAMP = PodStamp("d1", FOUND)


@pytest.mark.parametrize(
    ("state", "known"), [("answered", "observed"), ("reversed", "known"), ("partly", "known")]
)
def test_only_a_decision_that_was_just_answered_learns_from_the_stamp_of_its_pod(
    state: Any, known: str
) -> None:
    assert known_from(PODS_STAMP, replace(entry(), state=state)) == known


def test_a_stamp_of_no_decision_or_of_another_pods_teaches_nothing() -> None:
    assert known_from(PODS_STAMP, None) == "unknown"
    assert known_from(PodStamp("d1", replace(FOUND, name="other")), entry()) == "foreign"

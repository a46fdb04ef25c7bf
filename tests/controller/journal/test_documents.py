import msgspec
from nemutator_controller.journal.documents import listed, planned, shown, taken_back
from nemutator_controller.journal.records import EditOutcome, JournalEntry, Reversal
from nemutator_controller.journal.reversal_steps import steps_back
from nemutator_controller.journal.rollback_plans import (
    MADE_ANEW,
    NEEDS_NEW_POD,
    NO_OWNER,
    RollbackPlan,
)

from tests.fakes.decisions import CPU, INIT, NOW, POD, TEAM, changed_pod, decision
from tests.fakes.journals import MemoryObjects

ENTRY = JournalEntry(decision=decision(), state="answered", writer="admission-1")
OUTCOME = EditOutcome(path=TEAM, live=("blue",), result="reversed")
REVERSAL = Reversal(id="v1", decision="d1", at=NOW, state="partly", outcomes=(OUTCOME,))


def plan(**labels: str) -> RollbackPlan:
    live = MemoryObjects().place(POD, changed_pod(**labels))
    steps = steps_back([decision()], live.document, "Pod", running=True)
    return RollbackPlan(decision=decision(), live=live, steps=steps)


def test_a_mutation_shows_its_decision_its_state_and_its_reversals() -> None:
    document = shown(ENTRY, [REVERSAL])
    assert (document["kind"], document["id"], document["state"]) == ("Mutation", "d1", "answered")
    assert document["subject"]["name"] == "web-1"
    assert list(document["edits"][0]["before"]) == []
    assert document["reversals"][0]["outcomes"][0]["result"] == "reversed"
    assert listed([ENTRY])["items"] == [
        {key: document[key] for key in document if key not in ("apiVersion", "kind", "reversals")}
    ]
    assert msgspec.json.decode(msgspec.json.encode(document))


def test_a_plan_says_for_people_what_will_happen() -> None:
    def what(document: dict[str, object]) -> dict[str, str]:
        steps = document["steps"]
        assert isinstance(steps, list)
        return {step["path"]: step["what"] for step in steps}

    document = planned(plan(), evict=False)
    assert document["object"] == {"kind": "Pod", "namespace": "team", "name": "web-1"}
    assert document["evict"] is False
    assert what(document) == {
        TEAM: "is removed",
        CPU: "gets its old value back (by a resize)",
        INIT: f"stays: {NEEDS_NEW_POD}",
    }
    document = planned(plan(team="green"), evict=True)
    assert document["evict"] is True
    assert what(document)[TEAM] == "stays as it is: somebody else has changed it since"
    assert what(document)[INIT] == MADE_ANEW


def test_a_plan_for_a_bare_pod_promises_no_eviction() -> None:
    owned = plan()
    bare = decision(
        subject=owned.live.subject.__class__(
            api_version="v1", kind="Pod", namespace="team", name="web-1"
        )
    )
    document = planned(RollbackPlan(decision=bare, live=owned.live, steps=owned.steps), evict=True)
    assert document["evict"] is False
    assert document["steps"][0]["what"] == f"stays: {NO_OWNER}"


def test_the_end_of_a_rollback_tells_each_outcome() -> None:
    document = taken_back(REVERSAL, POD)
    assert (document["kind"], document["id"], document["state"]) == ("Rollback", "d1", "partly")
    assert document["outcomes"] == [
        {"path": TEAM, "live": ("blue",), "result": "reversed", "why": ""}
    ]

import msgspec
from nemutator_controller.kube.objects import Metadata
from nemutator_controller.policies.objects import PolicyStatus
from nemutator_controller.updating.conditions import due_conditions
from nemutator_controller.updating.objects import SizingPolicyObject
from nemutator_controller.updating.progress import PolicyProgress

from tests.fakes.sized_pods import pod_document, pod_of

ONE = SizingPolicyObject(metadata=Metadata(name="p", generation=3), spec={})
POD = pod_of(pod_document())


def progress(*states: str, mode: str = "InPlace") -> dict[str, PolicyProgress]:
    done = PolicyProgress(mode=mode)
    for each in states:
        done.note(POD, each, "why")
    return {"p": done}


def said(found: dict[str, PolicyProgress], faulty: dict[str, str]) -> list[tuple[str, str, str]]:
    [(_, conditions)] = due_conditions([ONE], found, faulty, now=0.0)
    return [(each.type, each.status, each.reason) for each in conditions]


def test_what_was_given_and_what_waits_stands_in_the_conditions() -> None:
    ready = ("Ready", "True", "Sound")
    assert said({}, {}) == [ready, ("Given", "Unknown", "NotLooked")]
    assert said(progress("fits"), {}) == [ready, ("Given", "True", "Done")]
    assert said(progress("waits"), {}) == [ready, ("Given", "False", "Waits")]
    assert said(progress("due", mode="Off"), {}) == [ready, ("Given", "False", "Off")]
    assert said({}, {"p": "wrong"})[0] == ("Ready", "False", "Faulty")


def test_what_stands_there_already_is_not_written_and_its_time_stays() -> None:
    [(_, first)] = due_conditions([ONE], progress("fits"), {}, now=0.0)
    known = msgspec.structs.replace(ONE, status=PolicyStatus(conditions=first))
    assert due_conditions([known], progress("fits"), {}, now=60.0) == []
    [(_, then)] = due_conditions([known], progress("fits", "fits"), {}, now=60.0)
    assert [each.last_transition_time for each in then] == ["1970-01-01T00:00:00Z"] * 2

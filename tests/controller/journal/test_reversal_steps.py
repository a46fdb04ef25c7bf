import copy
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.journal.reversal_steps import (
    DIFFERENT,
    NEWER_SET_IT,
    NEWER_STANDS,
    REMOVED,
    THEIRS,
    UNCHANGEABLE,
    UNKNOWN_VALUE,
    ReversalStep,
    backwards,
    covers,
    steps_back,
)
from nemutator_controller.mutations.decisions import Decision, Edit
from nemutator_controller.mutations.edits import Author, Draft, apply_edits
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import value_at

from tests.fakes.decisions import CPU, EDITS, INIT, TEAM, changed_pod, decision, edit

Json = Any
ENV = "containers[name=side].env[name=A]"
FIELDS = (
    "metadata.labels[team]",
    "metadata.labels[app.kubernetes.io/name]",
    "metadata.annotations[note]",
    CPU,
    "containers[name=app].resources.limits.memory",
    "containers[name=app].image",
    "containers[name=side].image",
    ENV,
    "nodeSelector[zone]",
)


VALUES = ("1", "2", "3")


def value_for(field: str, text: str) -> Json:
    return {"name": "A", "value": text} if field == ENV else text


def taken_back(
    document: Json, *decisions: Decision, kind: str = "Pod"
) -> tuple[Json, list[ReversalStep]]:
    steps = list(steps_back(decisions, document, kind, running=False))
    edits = [backwards(step) for step in steps if step.verdict == "reverse"]
    return apply_edits(document, edits, kind), steps


def verdicts(steps: list[ReversalStep]) -> dict[str, str]:
    return {step.edit.path: step.verdict for step in steps}


def some_pod(dice: random.Random) -> Json:
    pod: Json = {
        "metadata": {"name": "x"},
        "spec": {"containers": [{"name": "app"}, {"name": "side"}]},
    }
    return written(pod, dice, share=0.5)


def written(pod: Json, dice: random.Random, *, share: float) -> Json:
    """*pod* after somebody has written some of `FIELDS`, or removed them."""
    edits = []
    for field in FIELDS:
        if dice.random() < share:
            value = dice.choice((None, *VALUES))
            edits.append(edit(field, after=... if value is None else value_for(field, value)))
    return apply_edits(pod, edits, "Pod")


def mutation(pod: Json, dice: random.Random, number: int) -> tuple[Json, Decision]:
    draft = Draft(pod, "Pod")
    for field in FIELDS:
        if dice.random() < 0.4:
            value = value_for(field, dice.choice(VALUES))
            draft.set(parse_path(field), value, Author("labels", "p"))
    return draft.manifest, decision(number, edits=draft.edits())


def test_our_value_that_somebody_else_has_written_too_stays() -> None:
    document = changed_pod()
    labels: Json = {"f:metadata": {"f:labels": {"f:team": {}}}}
    applied = {"manager": "helm", "operation": "Apply", "fieldsV1": labels}
    document["metadata"]["managedFields"] = [applied]
    result, steps = taken_back(document, decision(edits=EDITS[:2]))
    assert verdicts(steps) == {TEAM: "conflict", CPU: "reverse"}
    assert {step.why for step in steps} == {"", f"helm {THEIRS}"}
    assert result["metadata"] == document["metadata"]


@pytest.mark.slow
def test_whatever_others_have_written_stays_in_ten_thousand_cases() -> None:
    dice = random.Random(6)
    for _ in range(10_000):
        before = some_pod(dice)
        ours, one = mutation(before, dice, 1)
        theirs = written(ours, dice, share=dice.choice((0.0, 0.2, 0.6)))
        result, _ = taken_back(theirs, one)
        edits = {each.path: each for each in one.edits}
        for field in FIELDS:
            path = parse_path(field)
            there, now = value_at(theirs, path, "Pod"), value_at(result, path, "Pod")
            if field in edits and there == edits[field].after:
                assert now == edits[field].before, field
            else:
                assert now == there, field


@given(st.integers(0, 2**32))
def test_untouched_objects_come_back_whole_and_a_second_time_is_nothing(seed: int) -> None:
    dice = random.Random(seed)
    before = some_pod(dice)
    ours, one = mutation(before, dice, 1)
    kept = copy.deepcopy(ours)
    back, _ = taken_back(ours, one)
    assert all(
        value_at(back, parse_path(field), "Pod") == value_at(before, parse_path(field), "Pod")
        for field in FIELDS
    )
    again, steps = taken_back(back, one)
    assert again == back
    assert {step.verdict for step in steps} <= {"already"}
    assert ours == kept


@given(st.integers(0, 2**32))
def test_several_decisions_go_newest_first(seed: int) -> None:
    dice = random.Random(seed)
    before = some_pod(dice)
    ours, one = mutation(before, dice, 1)
    ours, two = mutation(ours, dice, 2)
    back, _ = taken_back(ours, two, one)
    for field in FIELDS:
        path = parse_path(field)
        assert value_at(back, path, "Pod") == value_at(before, path, "Pod")


def test_a_conflict_ends_the_way_of_its_field_and_of_no_other() -> None:
    one = decision(1, edits=(edit(TEAM, after="blue"), edit(CPU, before="1", after="500m")))
    two = decision(2, edits=(edit(TEAM, before="blue", after="red"), edit(CPU, "500m", "250m")))
    pod = changed_pod()
    # Somebody has set the team to what the older decision made of it.
    _, steps = taken_back(pod, two, one)
    found = [(step.edit.path, step.verdict, step.why) for step in steps]
    assert found == [
        (CPU, "reverse", ""),
        (TEAM, "already", ""),
        (CPU, "reverse", ""),
        (TEAM, "reverse", ""),
    ]
    pod["metadata"]["labels"]["team"] = "theirs"
    back, steps = taken_back(pod, two, one)
    whys = [step.why for step in steps if step.edit.path == TEAM]
    assert whys == [DIFFERENT, NEWER_STANDS]
    assert back["metadata"]["labels"] == {"team": "theirs"}
    assert back["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "1"


@pytest.mark.parametrize(
    ("live", "whys"),
    [
        ({"team": "green"}, [f"{NEWER_SET_IT}: d2", ""]),
        ({"team": "red"}, [f"{NEWER_SET_IT}: d3", ""]),
        ({"team": "pink"}, [DIFFERENT, ""]),
        # The value is the older one's, too; it may be that of a new object of that name.
        ({"team": "blue"}, [f"{NEWER_SET_IT}: d4", ""]),
    ],
)
def test_what_we_have_set_since_is_not_blamed_on_somebody_else(
    live: dict[str, str], whys: list[str]
) -> None:
    newer = [
        decision(4, edits=(edit(TEAM, after="blue"),)),
        decision(3, edits=(edit(TEAM, "green", "red"),)),
        decision(2, edits=(edit("metadata.labels[a]", after="green"), edit(TEAM, "blue", "green"))),
    ]
    older = decision(edits=(EDITS[1], EDITS[0]))
    steps = steps_back([older], changed_pod(**live), "Pod", running=False, newer=newer)
    assert [step.why for step in steps] == whys


def test_a_conflict_inside_of_a_field_holds_the_older_change_around_it() -> None:
    image = "containers[name=app].image"
    pod = changed_pod()
    whole = edit("containers[name=app]", before={"name": "app"}, after=pod["spec"]["containers"][0])
    newer = decision(2, edits=(edit(image, before="app:0", after="app:2"),))
    back, steps = taken_back(pod, newer, decision(1, edits=(whole,)))
    assert [step.why for step in steps] == [DIFFERENT, NEWER_STANDS]
    assert back == pod


def test_what_cannot_come_back_because_its_place_is_gone_is_a_conflict() -> None:
    image = edit("containers[name=gone].image", before="app:1")
    _, (step,) = taken_back(changed_pod(), decision(edits=(image,)))
    assert (step.verdict, step.why) == ("conflict", "[name=gone]: there is no such item")


def test_each_kind_of_conflict_says_which() -> None:
    pod = changed_pod(team="green")
    del pod["spec"]["containers"][0]["resources"]
    pod["spec"]["initContainers"] = "nonsense"
    steps = steps_back([decision()], pod, "Pod", running=True)
    assert {step.edit.path: step.why for step in steps} == {
        TEAM: DIFFERENT,
        CPU: REMOVED,
        INIT: "[name=nemutator-init]: expected a list around it, found text",
    }


def test_a_running_pod_says_which_way_each_field_goes() -> None:
    steps = steps_back([decision()], changed_pod(), "Pod", running=True)
    assert [(step.edit.path, step.verdict, step.way) for step in steps] == [
        (INIT, "reverse", "new pod"),
        (CPU, "reverse", "resize"),
        (TEAM, "reverse", "patch"),
    ]


def test_a_resize_that_would_change_the_class_needs_a_new_pod() -> None:
    same = {"cpu": "250m", "memory": "1Gi"}
    guaranteed = changed_pod()
    guaranteed["spec"]["containers"][0]["resources"] = {"requests": same, "limits": same}
    del guaranteed["spec"]["initContainers"]
    back = decision(edits=(edit(TEAM, after="blue"), edit(CPU, before="100m", after="250m")))
    cpu, team = steps_back([back], guaranteed, "Pod", running=True)
    assert (cpu.verdict, cpu.way) == ("reverse", "new pod")
    assert (team.verdict, team.way) == ("reverse", "patch")
    assert {step.way for step in steps_back([back], guaranteed, "Pod", running=False)} == {"patch"}


def test_amounts_are_compared_as_amounts_and_only_there() -> None:
    edits = (
        edit(CPU, before="1", after="0.25"),
        edit("metadata.labels[a]", before="x", after="1000m"),
    )
    pod = changed_pod(a="1")
    assert verdicts(list(steps_back([decision(edits=edits)], pod, "Pod", running=True))) == {
        CPU: "reverse",
        "metadata.labels[a]": "conflict",
    }


def test_of_a_secret_only_a_new_pod_can_be_made() -> None:
    env = "containers[name=app].env[name=A]"
    edits = (
        edit(TEAM, before="h1", after="h2", digest=True),
        edit(env, after="h3", digest=True),
    )
    pod = changed_pod()
    pod["spec"]["containers"][0]["env"] = [{"name": "A", "value": "?"}]
    steps = steps_back([decision(edits=edits)], pod, "Pod", running=True)
    assert [(step.edit.path, step.verdict, step.why) for step in steps] == [
        (env, "reverse", ""),
        (TEAM, "conflict", UNKNOWN_VALUE),
    ]


def test_what_the_server_has_added_is_no_conflict_for_a_new_pod() -> None:
    added = EDITS[2].after[0]
    assert covers({**added, "resources": {}}, added)
    assert covers([{**added, "x": 1}], [added])
    assert covers([{"name": "theirs"}, {**added, "x": 1}, {"name": "more"}], [added])
    assert not covers([added], [added, added])
    assert not covers(["-m", "init", "--more"], ["-m", "init"])
    assert covers(added, {**added, "volumeAttributes": {}, "args": [], "tty": None})
    assert not covers(added, {**added, "tty": False})
    assert not covers({**added, "image": "other"}, added)
    assert covers(
        {"resources": {"limits": {"cpu": "500m"}}}, {"resources": {"limits": {"cpu": 0.5}}}
    )
    assert not covers({"cpu": "500m"}, {"cpu": 0.5})


def test_taking_back_is_an_edit_of_what_is_there() -> None:
    (step,) = steps_back([decision(edits=EDITS[:1])], changed_pod(), "Pod", running=True)
    assert backwards(step) == Edit(
        path=TEAM,
        before=("blue",),
        after=(),
        verb="labels",
        policy="defaults",
        reason="taken back",
    )


def test_the_selector_of_a_workload_that_exists_stays_with_its_labels() -> None:
    edits = (
        edit("workload.spec.selector.matchLabels[app]", before="a", after="b", verb="selectors"),
        edit("metadata.labels[app]", before="a", after="b", verb="selectors"),
    )
    labels = {"app": "b"}
    document = {
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}}
    }
    found = [decision(edits=edits)]
    steps = steps_back(found, document, "Deployment", running=True)
    assert {(step.verdict, step.why) for step in steps} == {("conflict", UNCHANGEABLE)}
    # Where nothing runs, it is a manifest like any other.
    steps = steps_back(found, document, "Deployment", running=False)
    assert {step.verdict for step in steps} == {"reverse"}

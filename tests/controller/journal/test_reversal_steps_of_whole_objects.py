import copy
import random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nemutator_controller.journal.reversal_steps import DIFFERENT, alike, covers, steps_back
from nemutator_controller.mutations.edits import same

from tests.fakes.decisions import EDITS, INIT, changed_pod, decision, edit

Json = Any

KEYS = st.sampled_from(("name", "value", "args", "resources", "cpu", "env"))
SCALARS = st.booleans() | st.integers(0, 9) | st.sampled_from(("1", "app", "x=y"))
OBJECTS = st.recursive(
    st.dictionaries(KEYS, SCALARS, min_size=1, max_size=3),
    lambda inner: st.dictionaries(
        KEYS,
        SCALARS | inner | st.lists(SCALARS, max_size=3) | st.lists(inner, max_size=3),
        min_size=1,
        max_size=3,
    ),
    max_leaves=8,
)
"""Shaped as what we add to pods is: lists have scalars in them, or objects."""


def grown(value: Json, dice: random.Random) -> Json:
    """*value* as a server stores it: with defaults, with items of others, without what is empty."""
    if isinstance(value, dict):
        more = {f"default{number}": number for number in range(dice.randrange(3))}
        kept = {
            key: grown(inner, dice)
            for key, inner in value.items()
            if inner not in ({}, []) or dice.random() < 0.5
        }
        return {**more, **kept}
    if isinstance(value, list):
        if any(not isinstance(item, dict) for item in value):
            return list(value)
        items: list[Json] = []
        for item in value:
            items += [{"theirs": number} for number in range(dice.randrange(3))]
            items.append(grown(item, dice))
        return items
    return value


def scalars_in(value: Json) -> list[tuple[Json, Any]]:
    """Where each scalar stands: what holds it, and under which key or index."""
    found: list[tuple[Json, Any]] = []
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in inside:
        found += scalars_in(inner) if isinstance(inner, dict | list) else [(value, key)]
    return found


@given(OBJECTS, st.integers(0, 2**32))
def test_what_a_server_adds_to_a_whole_object_leaves_it_ours(ours: Json, seed: int) -> None:
    live = grown(ours, random.Random(seed))
    assert covers(live, ours)
    pod = {"spec": {"initContainers": [{"name": "first"}, {**live, "name": "nemutator-init"}]}}
    one = decision(edits=(edit(INIT, after={**ours, "name": "nemutator-init"}),))
    (step,) = steps_back([one], pod, "Pod", running=True)
    assert (step.verdict, step.way) == ("reverse", "new pod")


@given(OBJECTS, st.integers(0, 2**32))
def test_of_a_whole_object_any_other_value_is_somebody_elses(ours: Json, seed: int) -> None:
    dice = random.Random(seed)
    live = grown(ours, dice)
    places = scalars_in(ours)
    assume(places)
    # The same place in ours with a value that is nowhere: then what lives is not what we wrote.
    holder, key = dice.choice(places)
    holder[key] = "a value that nobody has"
    assert not covers(live, ours)
    pod = {"spec": {"initContainers": [{**live, "name": "nemutator-init"}]}}
    one = decision(edits=(edit(INIT, after={"was": ours, "name": "nemutator-init"}),))
    (step,) = steps_back([one], pod, "Pod", running=True)
    assert (step.verdict, step.why) == ("conflict", DIFFERENT)


def test_an_object_that_stays_is_ours_only_as_we_wrote_it() -> None:
    # A Deployment gets no new pod from us but a patch, which would take away what others added.
    template = {"spec": changed_pod()["spec"]}
    deployment = {"metadata": {"name": "web"}, "spec": {"template": template}}
    one = decision(edits=(EDITS[2],))
    (step,) = steps_back([one], deployment, "Deployment", running=True)
    assert (step.verdict, step.way) == ("conflict", "patch")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=6,
    )
)
def test_everything_is_like_itself(value: Json) -> None:
    for amounts in (False, True):
        assert alike(value, copy.deepcopy(value), amounts=amounts)
        assert covers(value, copy.deepcopy(value), amounts=amounts)


@pytest.mark.parametrize(
    ("left", "right", "is_alike"),
    [
        ("1", "1000m", True),
        (1, "1", True),
        ("1Gi", "1024Mi", True),
        ({"cpu": "1"}, {"cpu": "1000m"}, True),
        (["1"], ["1000m"], True),
        (True, "1", False),
        ("one", "1", False),
        ({"cpu": "1"}, {"memory": "1"}, False),
        (["1"], ["1", "1"], False),
    ],
)
def test_amounts_may_be_written_in_several_ways(left: Json, right: Json, is_alike: bool) -> None:
    assert alike(left, right, amounts=True) is is_alike
    assert same(left, left)

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from nemutator_common import names
from nemutator_controller.neighbours.labels import (
    ALL_LABELS,
    AS_IT_STANDS,
    LabelledObject,
    changes,
    labelled,
)
from nemutator_controller.neighbours.model import Neighbourhood
from nemutator_controller.neighbours.verdicts import Verdicts

from tests.controller.neighbours.graded import link, looked, placed

WEB = LabelledObject("Pod", "shop", "web-1", "uid-web-1")


def test_the_worst_bear_their_grades_and_their_workloads_too() -> None:
    verdicts = Verdicts(share=1.0, most=100)
    node = looked([placed("web-1"), placed("batch-1"), placed("idle-1")], link(0, 1))
    found = Neighbourhood()
    for _ in range(2):
        found = verdicts.conclude([node], nodes_count=1, now=1.7e9)
    # What is usual nobody can tell before an hour of looks.
    victim = {
        names.VICTIM_NOW: "3",
        names.VICTIM_USUAL: AS_IT_STANDS,
        names.VICTIM_WORST: AS_IT_STANDS,
    }
    aggressor = {
        names.AGGRESSOR_NOW: "2",
        names.AGGRESSOR_USUAL: AS_IT_STANDS,
        names.AGGRESSOR_WORST: AS_IT_STANDS,
    }
    assert labelled(found) == {
        WEB: victim,
        LabelledObject("Deployment", "shop", "web"): victim,
        LabelledObject("Pod", "shop", "batch-1", "uid-batch-1"): aggressor,
        LabelledObject("Deployment", "shop", "batch"): aggressor,
    }


def test_a_pod_that_nobody_owns_bears_its_labels_once() -> None:
    verdicts = Verdicts(share=1.0, most=100)
    alone = structs.replace(placed("web-1"), owner_kind="Pod", owner="web-1")
    found = Neighbourhood()
    for _ in range(2):
        found = verdicts.conclude(
            [looked([alone, placed("batch-1")], link(0, 1))], nodes_count=1, now=1.7e9
        )
    assert [one for one in labelled(found) if one.namespace == "shop" and one.kind == "Pod"] == [
        WEB,
        LabelledObject("Pod", "shop", "batch-1", "uid-batch-1"),
    ]


def test_only_what_differs_is_written() -> None:
    standing: dict[str, str] = {names.VICTIM_NOW: "3", names.VICTIM_USUAL: "1"}
    wanted: dict[str, str] = {names.VICTIM_NOW: "2", names.VICTIM_USUAL: "1"}
    assert changes(wanted, standing) == {names.VICTIM_NOW: "2"}
    assert changes({}, standing) == {names.VICTIM_NOW: None, names.VICTIM_USUAL: None}
    assert changes(standing, standing) == {}


def test_a_grade_that_nobody_can_tell_stays_as_it_was_told() -> None:
    standing: dict[str, str] = {names.VICTIM_NOW: "3", names.VICTIM_USUAL: "1"}
    wanted: dict[str, str] = {names.VICTIM_NOW: AS_IT_STANDS, names.VICTIM_USUAL: "2"}
    assert changes(wanted, standing) == {names.VICTIM_USUAL: "2"}
    assert changes(wanted, {}) == {names.VICTIM_USUAL: "2"}


grades = st.dictionaries(st.sampled_from(sorted(ALL_LABELS)), st.sampled_from("1234"))


@given(grades, grades)
def test_after_the_changes_stands_what_is_wanted(
    wanted: dict[str, str], standing: dict[str, str]
) -> None:
    after = dict(standing)
    for label, value in changes(wanted, standing).items():
        if value is None:
            del after[label]
        else:
            after[label] = value
    assert after == wanted

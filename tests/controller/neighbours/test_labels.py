from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_controller.neighbours.labels import ALL_LABELS, LabelledObject, changes, labelled
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
    assert labelled(found) == {
        WEB: {names.VICTIM_NOW: "3"},
        LabelledObject("Deployment", "shop", "web"): {names.VICTIM_NOW: "3"},
        LabelledObject("Pod", "shop", "batch-1", "uid-batch-1"): {names.AGGRESSOR_NOW: "2"},
        LabelledObject("Deployment", "shop", "batch"): {names.AGGRESSOR_NOW: "2"},
    }


def test_a_pod_that_nobody_owns_bears_its_labels_once() -> None:
    verdicts = Verdicts(share=1.0, most=100)
    alone = placed("web-1")
    alone = type(alone)(
        **{**{f: getattr(alone, f) for f in alone.__slots__}, "owner_kind": "Pod", "owner": "web-1"}
    )
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

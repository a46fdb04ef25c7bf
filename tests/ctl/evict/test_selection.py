from nemutator_controller.kube.label_selectors import parse_selector
from nemutator_controller.neighbours.labels import GRADE_LABELS
from nemutator_controller.neighbours.model import NeighbourRole
from nemutator_ctl.evict.selection import WORST, selector_of

AGGRESSOR = GRADE_LABELS[NeighbourRole.AGGRESSOR, "now"]


def test_without_a_grade_labels_alone_choose() -> None:
    assert selector_of("app=web", None) == "app=web"
    assert selector_of("", None) == ""


def test_a_grade_chooses_what_the_brain_has_labelled_with_it_or_a_worse_one() -> None:
    chosen = parse_selector(selector_of("", 3))
    graded = range(1, WORST + 1)
    assert [chosen.matches({AGGRESSOR: str(each)}) for each in graded] == [False, False, True, True]
    assert not chosen.matches({})
    assert not chosen.matches({GRADE_LABELS[NeighbourRole.VICTIM, "now"]: "4"})


def test_both_must_fit() -> None:
    chosen = parse_selector(selector_of("app=web", 1))
    assert chosen.matches({"app": "web", AGGRESSOR: "1"})
    assert not chosen.matches({"app": "db", AGGRESSOR: "1"})
    assert not chosen.matches({"app": "web"})

"""A raised minimum is a change that is taken back to what its owner wrote."""

from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import AUTOSCALER, value_at
from nemutator_controller.scaling.journaled_changes import (
    MARK,
    MINIMUM,
    PATHS,
    raising_decision,
    tombstone_of,
)
from nemutator_controller.scaling.marks import RaisedMark

from tests.fakes.scaling import autoscaler

RAISED = RaisedMark(base=2, raised=6, decision="d1", by="nemutator", uid="u-web")


def test_both_fields_are_found_again_in_the_object() -> None:
    decision = raising_decision(autoscaler(), RAISED, scaler="web", why="so", at=1.0)
    assert (decision.id, decision.subject.kind) == ("d1", AUTOSCALER)
    document = {
        "metadata": {"annotations": {"nemutator.io/raised-minimum": RAISED.text}},
        "spec": {"minReplicas": 6},
    }
    for edit in decision.edits:
        assert value_at(document, parse_path(edit.path), AUTOSCALER) == edit.after
    assert [(one.path, one.before) for one in decision.edits] == [(MINIMUM, (2,)), (MARK, ())]
    assert tuple(one.path for one in decision.edits) == PATHS


def test_what_was_taken_back_is_named_by_the_minimum() -> None:
    stone = tombstone_of(("shop", "web"))
    assert (stone.namespace, stone.owner_kind, stone.owner_name, stone.path) == (
        "shop",
        "HorizontalPodAutoscaler",
        "web",
        MINIMUM,
    )

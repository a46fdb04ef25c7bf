"""Whose minimum stands there."""

from nemutator_controller.scaling.marks import RaisedMark
from nemutator_controller.scaling.records import REASONS

from tests.fakes.scaling import autoscaler

TEXT = RaisedMark(base=2, raised=6, decision="d1", by="nemutator", uid="u-web").text


def test_the_base_is_what_its_owner_wrote() -> None:
    assert autoscaler(minimum=3).base == 3
    assert autoscaler(minimum=6, annotation=TEXT).base == 2


def test_whoever_writes_another_minimum_has_taken_it_over() -> None:
    taken = autoscaler(minimum=5, annotation=TEXT)
    assert (taken.mark, taken.base) == (None, 5)


def test_the_annotation_of_a_copy_says_nothing_of_the_copy() -> None:
    copied = autoscaler(minimum=6, annotation=TEXT, uid="another")
    assert (copied.mark, copied.base) == (None, 6)


def test_every_reason_is_there_once() -> None:
    assert len(set(REASONS)) == len(REASONS) == 19

from dataclasses import replace

from nemutator_controller.ageing.marks import MOST_OF_A_POD, Sentences
from nemutator_controller.ageing.sentences import sentence

from tests.controller.ageing.test_findings import finding
from tests.fakes.ageing import SHOP


def test_a_pod_that_was_read_bears_the_verdict_while_its_program_grows() -> None:
    marks = Sentences()
    assert marks.of([finding()]) == {"uid-1": sentence(finding())}
    assert marks.of([]) == {}


def test_a_rate_that_hardly_moves_is_the_same_mark() -> None:
    marks, first = Sentences(), finding()
    marks.of([first])
    moved = replace(first, rate_per_min=first.rate_per_min * 1.2)
    assert marks.of([moved]) == {"uid-1": sentence(first)}
    # By steps it would go any way: what counts is what stands there.
    moved = replace(first, rate_per_min=first.rate_per_min * 1.4)
    assert marks.of([moved]) == {"uid-1": sentence(moved)}


def test_another_verdict_is_another_mark() -> None:
    marks, first = Sentences(), finding()
    marks.of([first])
    firm = replace(first, state="firm")
    assert marks.of([firm]) == {"uid-1": sentence(firm)}


def test_programs_of_one_pod_share_its_mark() -> None:
    found = [
        replace(finding(), workload=replace(SHOP, program=f"p{number}")) for number in range(9)
    ]
    (mark,) = Sentences().of(found).values()
    assert mark == "; ".join(sentence(one) for one in found[:MOST_OF_A_POD])

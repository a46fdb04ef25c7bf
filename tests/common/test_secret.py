"""A secret shows itself to nobody who does not ask by name."""

import copy
import json
import logging
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.secret import MASK, Secret

VALUE = "hunter2-and-more"


@pytest.mark.parametrize(
    "shown",
    [
        str(Secret(VALUE)),
        repr(Secret(VALUE)),
        f"{Secret(VALUE)}",
        f"{Secret(VALUE)!r:>20}",
        "%s" % Secret(VALUE),  # noqa: UP031 - what logging does with its arguments
        repr([Secret(VALUE)]),
        json.dumps({"token": Secret(VALUE)}, default=str),
        logging.LogRecord("x", 20, "x", 1, "%s", (Secret(VALUE),), None).getMessage(),
    ],
)
def test_it_prints_as_a_mask_everywhere(shown: str) -> None:
    assert MASK in shown
    assert VALUE not in shown


def test_only_reveal_gives_it_out() -> None:
    assert Secret(VALUE).reveal() == VALUE
    assert not hasattr(Secret(VALUE), "__dict__")


@pytest.mark.parametrize("leave", [pickle.dumps, copy.copy, copy.deepcopy])
def test_it_does_not_leave_the_process(leave: object) -> None:
    assert callable(leave)
    with pytest.raises(TypeError, match="not to be pickled"):
        leave(Secret(VALUE))


def test_it_is_no_key() -> None:
    with pytest.raises(TypeError):
        hash(Secret(VALUE))


@given(st.text(), st.text())
def test_equality_and_truth_are_those_of_the_values(left: str, right: str) -> None:
    assert (Secret(left) == Secret(right)) == (left == right)
    assert Secret(left) == Secret(left)
    assert Secret(left) != left
    assert bool(Secret(left)) == bool(left)

"""The shapes survive the wire: what msgspec writes, it reads back as the same value."""

import dataclasses
import types
import typing
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import wire
from nemutator_common.wire import Ack, Batch

SHAPES = [shape for shape in vars(wire).values() if dataclasses.is_dataclass(shape)]


def values(of: Any) -> st.SearchStrategy[Any]:
    """Anything of a wire type: numbers as JSON carries them, a few members in each tuple."""
    arguments = typing.get_args(of)
    if isinstance(of, type) and dataclasses.is_dataclass(of):
        hints = typing.get_type_hints(of)
        return st.builds(of, **{name: values(hint) for name, hint in hints.items()})
    if isinstance(of, types.UnionType):
        return st.one_of(*map(values, arguments))
    if typing.get_origin(of) is Literal:
        return st.sampled_from(arguments)
    if typing.get_origin(of) is tuple:
        return st.lists(values(arguments[0]), max_size=3).map(tuple)
    if of is float:
        return st.floats(allow_nan=False, allow_infinity=False)
    return st.integers(-(2**63), 2**63 - 1) if of is int else st.from_type(of)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_every_shape_is_a_value(shape: type) -> None:
    assert shape.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(shape)


@pytest.mark.slow
@given(values(Batch))
def test_a_batch_reads_back_as_it_was_written(batch: Batch) -> None:
    assert msgspec.json.decode(msgspec.json.encode(batch), type=Batch) == batch


@given(values(Ack))
def test_an_ack_reads_back_as_it_was_written(ack: Ack) -> None:
    assert msgspec.json.decode(msgspec.json.encode(ack), type=Ack) == ack

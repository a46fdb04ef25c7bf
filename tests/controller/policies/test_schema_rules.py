"""What the schema says beside its types is about fields that exist."""

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.inspect import DictType, StructType, Type, UnionType, VarTupleType
from nemutator_controller.kube.quantities import LONGEST, parse_quantity
from nemutator_controller.mutations.resources import QUANTITY
from nemutator_controller.policies.model import Spec
from nemutator_controller.policies.schema_rules import BOUNDS, MEANINGS, RULES


def structs(info: Type) -> Iterator[StructType]:
    match info:
        case StructType():
            yield info
            for field in info.fields:
                yield from structs(field.type)
        case UnionType():
            for each in info.types:
                yield from structs(each)
        case DictType():
            yield from structs(info.value_type)
        case VarTupleType():
            yield from structs(info.item_type)


def test_each_word_is_of_the_model() -> None:
    found = {each.cls.__name__: each for each in structs(msgspec.inspect.type_info(Spec))}
    fields = {
        f"{name}.{field.encode_name}" for name, each in found.items() for field in each.fields
    }
    assert fields >= {*MEANINGS, *BOUNDS}
    assert found.keys() >= RULES.keys()


@pytest.mark.slow
@given(st.from_regex(QUANTITY, fullmatch=True) | st.text(max_size=8))
def test_what_the_pattern_takes_we_can_read(text: str) -> None:
    # Python's $ also ends before a newline, which the server's does not.
    if len(text) <= LONGEST and QUANTITY.fullmatch(text) and not text.endswith("\n"):
        assert parse_quantity(text).nanos >= 0

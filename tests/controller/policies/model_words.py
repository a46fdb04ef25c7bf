"""The words that the model of MutationPolicy has."""

from collections.abc import Iterator

import msgspec
from msgspec.inspect import DictType, StructType, Type, UnionType, VarTupleType
from nemutator_controller.policies.model import Spec


def words() -> set[str]:
    """Of each struct its name, and `Struct.field` for each field."""
    found = {each.cls.__name__: each for each in _structs(msgspec.inspect.type_info(Spec))}
    return found.keys() | {
        f"{name}.{field.encode_name}" for name, each in found.items() for field in each.fields
    }


def _structs(info: Type) -> Iterator[StructType]:
    match info:
        case StructType():
            yield info
            for field in info.fields:
                yield from _structs(field.type)
        case UnionType():
            for each in info.types:
                yield from _structs(each)
        case DictType():
            yield from _structs(info.value_type)
        case VarTupleType():
            yield from _structs(info.item_type)

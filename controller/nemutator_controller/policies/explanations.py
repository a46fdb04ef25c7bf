"""The decoder's message about a fault of a document, in the document's words: field, then fault.

The decoder names neither the key of the map that has the fault nor the words that are allowed; the
document has the one, and its type the other.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec.inspect import (
    DictType,
    LiteralType,
    StrType,
    StructType,
    Type,
    UnionType,
    VarTupleType,
)

_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")
_LONGEST_KEY = 80


def explained(message: str, document: Any, shape: type[msgspec.Struct], *, root: str) -> str:
    """The meaning of *message* about *document*; *root* is the name of the document itself."""
    # Such as: Expected `str`, got `int` - at `$.match.names[0]`; of a key: - at `key` in `$.match`
    what, _, where = message.partition(" - at ")
    field, value, info = root, document, msgspec.inspect.type_info(shape)
    for name, index in _STEP.findall(where):
        info = _given(info)
        if isinstance(info, StructType):
            field, value = f"{field}.{name}", value[name]
            info = next(each.type for each in info.fields if each.encode_name == name)
        elif isinstance(info, VarTupleType):
            field, value, info = f"{field}[{index}]", value[int(index)], info.item_type
        elif isinstance(info, DictType):
            key = _faulty(value, info.value_type)
            known = isinstance(info.key_type, LiteralType)
            field += f".{key}" if known else f"[{str(key)[:_LONGEST_KEY]}]"
            value, info = value[key], info.value_type
    what = what[:1].lower() + what[1:].replace(" | null", "")
    return f"{field}: {what}{_allowed(what, _given(info))}"


def _given(info: Type) -> Type:
    """The type beside None: a field may be left out, but is not written as null."""
    if not isinstance(info, UnionType):
        return info
    [given] = (each for each in info.types if not isinstance(each, msgspec.inspect.NoneType))
    return given


def _faulty(values: Mapping[str, Any], info: Type) -> str:
    """The first key whose value is not of the type *info*; maps have objects or texts."""
    wanted: Any = str
    if isinstance(info, StructType):
        wanted = info.cls
    elif isinstance(info, StrType):
        bounds = msgspec.Meta(
            min_length=info.min_length, max_length=info.max_length, pattern=info.pattern
        )
        wanted = Annotated[str, bounds]
    for key, value in values.items():
        try:
            msgspec.convert(value, wanted)
        except msgspec.ValidationError:
            return key
    raise KeyError(f"all values are of the type {info}")


def _allowed(what: str, info: Type) -> str:
    words = info.key_type if isinstance(info, DictType) else info
    if not what.startswith("invalid enum value") or not isinstance(words, LiteralType):
        return ""
    return f": expected one of {', '.join(map(str, words.values))}"

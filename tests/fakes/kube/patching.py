"""JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7386), on copies."""

import copy
from typing import Any

import msgspec

Json = Any


class PatchError(Exception):
    """The patch does not apply."""


def merge_patch(document: Json, patch: Json) -> Json:
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    merged = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


def operations_of(body: bytes) -> Json:
    """The patch that *body* is; values that are tested stay as they are spelled."""
    operations = msgspec.json.decode(body)
    if not isinstance(operations, list) or not all(isinstance(one, dict) for one in operations):
        return operations
    spelled = msgspec.json.decode(body, type=list[dict[str, msgspec.Raw]])
    return [
        {**one, "value": raw["value"]} if one.get("op") == "test" and "value" in one else one
        for one, raw in zip(operations, spelled, strict=True)
    ]


def json_patch(document: Json, operations: Json) -> Json:
    if not isinstance(operations, list):
        raise PatchError("a JSON patch is a list of operations")
    holder = {"": copy.deepcopy(document)}
    for operation in operations:
        try:
            _apply(holder, operation)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise PatchError(f"{operation!r}: {error}") from error
    return holder[""]


def _apply(holder: Json, operation: Json) -> None:
    where = _steps(operation["path"])
    match operation["op"]:
        case "add":
            _add(holder, where, copy.deepcopy(operation["value"]))
        case "remove":
            _remove(holder, where)
        case "replace":
            _replace(holder, where, copy.deepcopy(operation["value"]))
        case "move":
            _add(holder, where, _remove(holder, _steps(operation["from"])))
        case "copy":
            _add(holder, where, copy.deepcopy(_get(holder, _steps(operation["from"]))))
        case "test":
            # A member that is not there is null to it.
            found = _get_or_null(holder, where)
            value = operation.get("value")
            if not (_spelled if isinstance(value, msgspec.Raw) else _same)(found, value):
                raise PatchError(f"testing value {operation['path']} failed: test failed")
        case unknown:
            raise PatchError(f"unexpected kind: {unknown}")


def _steps(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is no JSON pointer")
    steps = pointer.split("/")
    return [step.replace("~1", "/").replace("~0", "~") for step in steps]


def _get(node: Json, steps: list[str]) -> Json:
    for step in steps:
        node = node[_index(node, step)]
    return node


def _get_or_null(node: Json, steps: list[str]) -> Json:
    parent, last = _get(node, steps[:-1]), steps[-1]
    return parent.get(last) if isinstance(parent, dict) else _get(parent, [last])


def _add(holder: Json, steps: list[str], value: Json) -> None:
    parent, last = _get(holder, steps[:-1]), steps[-1]
    if not isinstance(parent, list):
        parent[last] = value
    elif last == "-":
        parent.append(value)
    elif int(last) <= len(parent):
        parent.insert(int(last), value)
    else:
        raise IndexError(f"index {last} is beyond the list")


def _replace(holder: Json, steps: list[str], value: Json) -> None:
    """Against the RFC, the server's library also replaces a member that is not there."""
    parent, last = _get(holder, steps[:-1]), steps[-1]
    index = _index(parent, last)
    parent[index] = value


def _remove(holder: Json, steps: list[str]) -> Json:
    parent = _get(holder, steps[:-1])
    return parent.pop(_index(parent, steps[-1]))


def _index(node: Json, step: str) -> Any:
    if not isinstance(node, list):
        return step
    if not step.isdigit():
        raise ValueError(f"{step!r} is no index")
    return int(step)


def _spelled(found: Json, raw: msgspec.Raw) -> bool:
    """As the server's library compares: members and items each, and all else byte by byte."""
    if isinstance(found, dict) and bytes(raw)[:1] == b"{":
        members = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        return found.keys() == members.keys() and all(_spelled(found[k], members[k]) for k in found)
    if isinstance(found, list) and bytes(raw)[:1] == b"[":
        items = msgspec.json.decode(raw, type=list[msgspec.Raw])
        return len(found) == len(items) and all(map(_spelled, found, items))
    text = msgspec.json.encode(found).decode()
    for character in "&<>\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode() == bytes(raw)


def _same(left: Json, right: Json) -> bool:
    """Python thinks that True == 1; JSON does not."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)

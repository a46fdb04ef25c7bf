"""Edits as a JSON Patch (RFC 6902), and how we apply one ourselves.

A patch that the API server cannot apply fails the request even when failurePolicy is Ignore. So
what we send was applied here first, by stricter rules than the server's.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from nemutator_common.decisions import Edit, Maybe

from nemutator_controller.mutations.edits import (
    apply_edits,
    emptied,
    place_of_new,
    same,
)
from nemutator_controller.mutations.paths import (
    Item,
    Json,
    Step,
    escaped,
    member,
    parse_path,
    pointer_to,
    steps_in,
    token,
)

Operation = dict[str, Json]

MOST = 1_000
"""Operations of one patch. The server takes ten times that from clients."""


class PatchError(ValueError):
    """The patch does not apply."""


def render(thing: Json, edits: Sequence[Edit], kind: str) -> list[Operation]:
    """What makes of *thing* the same as `apply_edits`.

    At its end it tests that each item that was reached by its index is the one that was meant.
    """
    operations: list[Operation] = []
    now = thing
    for edit in edits:
        steps = steps_in(kind, parse_path(edit.path))
        operations += _written(now, steps, edit.after[0]) if edit.after else _removed(now, steps)
        now = apply_edits(now, (edit,), kind)
    return operations + list(_meant(thing, now, edits, kind))


def guards(thing: Json, edits: Iterable[Edit], kind: str) -> list[Operation]:
    """Tests that *thing* still has what the edits say was there before; to go in front.

    That nothing is there cannot be said in a JSON Patch: for this an update is bound to the
    object's resourceVersion.
    """
    return [
        _operation("test", pointer, edit.before[0])
        for edit in edits
        if edit.before and (pointer := pointer_to(thing, parse_path(edit.path), kind)) is not None
    ]


def apply_patch(thing: Json, operations: Iterable[Operation]) -> Json:
    """*thing* with the patch, or a `PatchError`; *thing* itself stays as it is."""
    for operation in operations:
        try:
            op, pointer = operation["op"], operation["path"]
            if op not in ("add", "replace", "remove", "test"):
                raise PatchError(f"{op!r}: not one of add, replace, remove, test")
            value = None if op == "remove" else operation["value"]
        except KeyError as missing:
            raise PatchError(f"an operation without {missing}") from None
        thing = _applied(thing, _tokens(pointer), op, value, pointer)
    return thing


def _written(thing: Json, steps: Sequence[Step], value: Json) -> list[Operation]:
    container, pointer = thing, ""
    for at, step in enumerate(steps):
        inside = member(container, step)
        if not inside or (inside[0] is None and at + 1 < len(steps)):
            return [
                _operation(
                    "add", pointer + _new(container, steps[: at + 1]), value, steps[at + 1 :]
                )
            ]
        pointer += f"/{token(container, step)}"
        container = inside[0]
    # For a field that is null "replace" is not everybody's; "add" is, and replaces, too.
    return [_operation("add" if container is None else "replace", pointer, value)]


def _new(container: Json, steps: Sequence[Step]) -> str:
    last = steps[-1]
    if not isinstance(last, Item):
        return f"/{escaped(last.name)}"
    at = place_of_new(steps, container)
    return f"/{at}" if at < len(container) else "/-"


def _removed(thing: Json, steps: Sequence[Step]) -> list[Operation]:
    container, pointer = thing, ""
    for step in steps:
        inside = member(container, step)
        if not inside:
            return []
        container = inside[0]
    container = thing
    for step in steps[: emptied(thing, steps)]:
        pointer += f"/{token(container, step)}"
        container = member(container, step)[0]
    return [{"op": "remove", "path": pointer}]


def _operation(
    op: Literal["add", "replace", "test"], pointer: str, value: Json, inside: Sequence[Step] = ()
) -> Operation:
    """With the parents that *value* needs around it, as *inside* leads to it."""
    for step in reversed(inside):
        value = [value] if isinstance(step, Item) else {step.name: value}
    return {"op": op, "path": pointer, "value": value}


def _meant(thing: Json, now: Json, edits: Iterable[Edit], kind: str) -> Iterable[Operation]:
    told: set[str] = set()
    for edit in edits:
        before: Maybe = (thing,)
        after: Maybe = (now,)
        pointer = ""
        for step in steps_in(kind, parse_path(edit.path)):
            # What the patch itself has added needs no proof, nor what it has removed.
            before = member(before[0], step)
            around, after = after[0], member(after[0], step)
            if not before or not after:
                break
            pointer += f"/{token(around, step)}"
            if isinstance(step, Item) and pointer not in told:
                told.add(pointer)
                yield _operation("test", f"{pointer}/{escaped(step.by)}", step.value)


def _applied(thing: Json, tokens: Sequence[str], op: str, value: Json, pointer: str) -> Json:
    """A copy of *thing*, as far as it changes."""
    if not tokens:
        if op == "test":
            if not same(thing, value):
                raise PatchError(f"{pointer}: test failed")
            return thing
        raise PatchError("the whole object is not to be replaced")
    name, *rest = tokens
    if isinstance(thing, dict):
        return _applied_in_object(thing, name, rest, op, value, pointer)
    if isinstance(thing, list):
        return _applied_in_list(thing, name, rest, op, value, pointer)
    raise PatchError(f"{pointer}: there is nothing to hold {name!r}")


def _applied_in_object(
    thing: dict[str, Json], name: str, rest: Sequence[str], op: str, value: Json, pointer: str
) -> Json:
    if not rest and op == "add":
        return {**thing, name: value}
    if name not in thing:
        raise PatchError(f"{pointer}: there is no {name!r}")
    if rest or op == "test":
        inner = _applied(thing[name], rest, op, value, pointer)
        return thing if inner is thing[name] else {**thing, name: inner}
    if op == "replace":
        return {**thing, name: value}
    return {key: kept for key, kept in thing.items() if key != name}


def _applied_in_list(
    thing: list[Json], name: str, rest: Sequence[str], op: str, value: Json, pointer: str
) -> Json:
    if not rest and op == "add":
        at = len(thing) if name == "-" else _index(name, len(thing), pointer)
        return [*thing[:at], value, *thing[at:]]
    at = _index(name, len(thing) - 1, pointer)
    if rest or op == "test":
        inner = _applied(thing[at], rest, op, value, pointer)
        return thing if inner is thing[at] else [*thing[:at], inner, *thing[at + 1 :]]
    return [*thing[:at], *([value] if op == "replace" else []), *thing[at + 1 :]]


def _index(name: str, last: int, pointer: str) -> int:
    # ASCII digits, no sign, no leading zero: what RFC 6901 allows, where int() takes more.
    if not (name.isascii() and name.isdigit()) or (name[0] == "0" and name != "0"):
        raise PatchError(f"{pointer}: {name[:40]!r} is no index")
    if len(name) > 9 or int(name) > last:
        raise PatchError(f"{pointer}: {name[:40]} is beyond the list")
    return int(name)


def _tokens(pointer: Json) -> list[str]:
    if not isinstance(pointer, str) or not pointer.startswith("/"):
        raise PatchError(f"{str(pointer)[:80]!r}: expected a JSON Pointer into the object")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]

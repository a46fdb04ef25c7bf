"""Folded stacks: one line per stack, with its functions from the outermost: `main;work;leaf 42`.

Most flame graph tools read this format. They also know the suffixes of a name: `_[k]` means that it
is in the kernel, `_[i]` that it was inlined.
"""

import re

from nemutator_common.profiles.model import Frame, FrameTable, Stack, Weighed, WeighedStacks, merged

_SEPARATORS = re.compile(r"[;\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
"""The characters that would end a name or a line: a name is one word between semicolons."""

_WEIGHED = re.compile(r"(.*)[ \t]([0-9]{1,19})[ \t]*", re.DOTALL)
"""A stack and its weight; some tools end a line with a space."""

DEEPEST = 1024
"""The most frames of a stack that is read; those further in are left out."""

LONGEST_NAME = 4096

LARGEST = 32 << 20
"""The most bytes of the text, in which a name is repeated for each stack that it is on."""

_LEFT_OUT = "[left_out]"


def render(profile: WeighedStacks) -> str:
    """All stacks, in the order of their text; equal ones share a line. Those beyond the limit are
    one more line, so that the sum stays true."""
    names = [_name(frame) for frame in profile.frames]
    lines: dict[str, int] = {}
    left = LARGEST
    for stack, count in profile.stacks:
        left -= sum(len(names[number]) + 1 for number in stack)
        if left < 0:
            lines[_LEFT_OUT] = lines.get(_LEFT_OUT, 0) + count
            continue
        line = ";".join(names[number] for number in reversed(stack)) or "[no_stack]"
        lines[line] = lines.get(line, 0) + count
    return "".join(f"{line} {count}\n" for line, count in sorted(lines.items()))


def _name(frame: Frame) -> str:
    name = _SEPARATORS.sub("_", frame.function) or "[unknown]"
    if frame.kind == "kernel":
        return f"{name}_[k]"
    return f"{name}_[i]" if frame.inlined else name


class MalformedFoldedError(ValueError):
    """This text is not of folded stacks; the message says where it is not."""


def parse(text: str) -> Weighed:
    """The stacks of *text*, which any tool may have written. Raises MalformedFoldedError."""
    if len(text) > LARGEST:
        raise MalformedFoldedError(f"more than {LARGEST} characters")
    table = FrameTable()
    known: dict[str, int] = {}
    rows: list[tuple[Stack, int]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line and not line.isspace():
            stack, weight = _row(line.rstrip("\r"), number)
            for name in stack:
                if name not in known:
                    known[name] = table.number(_frame(name))
            rows.append((tuple(known[name] for name in reversed(stack)), weight))
    if not rows:
        raise MalformedFoldedError("no stack is in it")
    return Weighed(frames=table.frames, stacks=merged(rows))


def _row(line: str, number: int) -> tuple[list[str], int]:
    found = _WEIGHED.fullmatch(line)
    if found is None:
        raise MalformedFoldedError(f"line {number} does not end with the weight of a stack")
    return found[1].split(";")[:DEEPEST], int(found[2])


def _frame(name: str) -> Frame:
    if name.endswith("_[k]"):
        return Frame(name[:-4][:LONGEST_NAME], kind="kernel")
    if name.endswith("_[i]"):
        return Frame(name[:-4][:LONGEST_NAME], inlined=True)
    return Frame(name[:LONGEST_NAME])

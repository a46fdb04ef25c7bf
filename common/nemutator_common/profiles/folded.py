"""Folded stacks: one line per stack, with its functions from the outermost: `main;work;leaf 42`.

Most flame graph tools read this format. They also know the suffixes of a name: `_[k]` means that it
is in the kernel, `_[i]` that it was inlined.
"""

import re

from nemutator_common.profiles.model import Frame, WeighedStacks

_SEPARATORS = re.compile(r"[;\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
"""The characters that would end a name or a line: a name is one word between semicolons."""


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

"""Folded stacks: a line for each, its functions from the outermost, `main;work;leaf 42`.

What most flame graph tools read. They also know the marks behind a name: `_[k]` of the kernel,
`_[i]` inlined.
"""

import re

from nemutator_common.profiles.model import Frame, Profile

_SEPARATORS = re.compile(r"[;\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
"""What would end a name or a line: one name is one word between semicolons."""


LARGEST = 32 << 20
"""Of the text. A name stands in it as often as it was on a stack."""

_LEFT_OUT = "[left_out]"


def render(profile: Profile) -> str:
    """All stacks, in the order of their text; equal ones are one line. Those that are too much are
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

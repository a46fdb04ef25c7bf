"""Types as C++ writes them: what is declared stands in the middle of some of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from nemutator_agent.profiler.symbols.demangled.cursor import bounded


@dataclass(frozen=True, slots=True)
class CppType:
    left: str
    right: str = ""
    """What follows the name: `(int)` of a function, `[3]` of an array."""
    bare: bool = False
    """A function or an array, of which a pointer needs parentheses."""
    function: bool = False

    @property
    def text(self) -> str:
        return bounded(self.left + self.right)

    def around(self, name: str) -> str:
        """The declaration of *name* with this type."""
        blank = "" if self.right and not self.bare else " "
        return bounded(f"{self.left.rstrip()}{blank}{name}{self.right}")


@dataclass(frozen=True, slots=True)
class CppPack:
    """What a parameter pack stands for."""

    items: tuple[CppType, ...]

    @property
    def text(self) -> str:
        return bounded(", ".join(item.text for item in self.items))


Value = CppType | CppPack


def each(value: Value, change: Callable[[CppType], CppType]) -> Value:
    if isinstance(value, CppPack):
        return CppPack(tuple(map(change, value.items)))
    return change(value)


def spread(values: list[Value]) -> list[str]:
    """The texts, those of packs one by one."""
    texts = []
    for value in values:
        items = value.items if isinstance(value, CppPack) else (value,)
        texts += [item.text for item in items]
    return texts


def qualified(one: CppType, words: str) -> CppType:
    if one.function:
        return replace(one, right=bounded(one.right + words))
    if one.bare:
        return replace(one, left=bounded(f"{one.left.rstrip()}{words} "))
    return replace(one, left=bounded(one.left + words))


def pointed(one: CppType, sign: str) -> CppType:
    """A pointer or a reference to *one*; a reference to a reference is one."""
    if one.bare:
        blank = "" if one.function else " "
        return CppType(bounded(f"{one.left}({sign}"), bounded(f"){blank}{one.right}"))
    if "&" in sign and one.left.endswith("&"):
        lvalue = sign == "&" and one.left.endswith("&&")
        return replace(one, left=one.left[:-1]) if lvalue else one
    return replace(one, left=bounded(one.left + sign))


def member(one: CppType, owner: str) -> CppType:
    """A pointer to a member of *owner*."""
    if one.bare:
        return CppType(bounded(f"{one.left}({owner}::*"), bounded(f"){one.right}"))
    return replace(one, left=bounded(f"{one.left} {owner}::*"))


def array(one: CppType, size: str) -> CppType:
    left = one.left if one.bare else f"{one.left} "
    return CppType(left, bounded(f"[{size}]{one.right}"), bare=True)


def function(returned: CppType, parameters: str) -> CppType:
    blank = "" if returned.right and not returned.bare else " "
    left = f"{returned.left.rstrip()}{blank}"
    return CppType(left, bounded(f"({parameters}){returned.right}"), bare=True, function=True)


def templated(name: str, arguments: list[str]) -> str:
    inside = ", ".join(arguments)
    first = " " if name.endswith("<") else ""
    last = " " if inside.endswith(">") else ""
    return bounded(f"{name}{first}<{inside}{last}>")


def last_name(text: str) -> str:
    """The innermost name of a qualified one, without its template arguments."""
    depth, end = 0, len(text)
    for at in range(len(text) - 1, -1, -1):
        letter = text[at]
        if letter == ">":
            depth += 1
        elif letter == "<":
            depth -= 1
            if depth == 0:
                end = at
        elif letter == ":" and depth == 0:
            return text[at + 1 : end]
    return text[:end]

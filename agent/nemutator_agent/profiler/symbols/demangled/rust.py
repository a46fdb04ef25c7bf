"""Names that rustc has mangled: the legacy form within Itanium's, and v0 (RFC 2603).

Shown as rustfilt does without hashes: `core::ptr::drop_in_place::<alloc::string::String>`.
"""

import re
from collections.abc import Callable
from types import MappingProxyType

from nemutator_agent.profiler.symbols.demangled.cursor import (
    Cursor,
    NotMangledError,
    Spend,
    bounded,
)

_HASH = re.compile("h[0-9a-f]{16}")
_ESCAPED = re.compile(r"\$(SP|BP|RF|LT|GT|LP|RP|C|u[0-9a-f]{1,6})\$|\.\.|\.")
_ESCAPES = MappingProxyType(
    {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}
)
_BASIC = MappingProxyType(
    {
        "a": "i8", "b": "bool", "c": "char", "d": "f64", "e": "str", "f": "f32", "h": "u8",
        "i": "isize", "j": "usize", "l": "i32", "m": "u32", "n": "i128", "o": "u128", "p": "_",
        "s": "i16", "t": "u16", "u": "()", "v": "...", "x": "i64", "y": "u64", "z": "!",
    }
)  # fmt: skip
_SIGNED, _UNSIGNED = "aslxni", "htmyoj"
_BASE_62 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def legacy(text: str, spend: Spend) -> str:
    """*text* begins with `_ZN`. Raises NotMangledError, also where the name is one of C++."""
    cursor = Cursor(text, spend)
    cursor.expect("_ZN")
    parts = []
    while not cursor.skip("E"):
        parts.append(cursor.characters(cursor.number()))
    if len(parts) < 2 or not _HASH.fullmatch(parts.pop()):
        raise NotMangledError
    _suffix(cursor)
    return bounded("::".join(_unescaped(part) for part in parts))


def v0(text: str, spend: Spend) -> str:
    """*text* begins with `_R`. Raises NotMangledError."""
    parser = _Parser(text.removeprefix("_R"), spend)
    found = parser.path(value=True)
    if not parser.ended and parser.next not in ".$":
        # The crate that has made this instance.
        parser.path(value=False)
    _suffix(parser)
    return bounded(found)


def _suffix(cursor: Cursor) -> None:
    """What LLVM has added, such as `.llvm.123`, says nothing to people."""
    if not cursor.ended and cursor.next not in (".", "$"):
        raise NotMangledError


def _unescaped(part: str) -> str:
    # An underscore comes before what would not be the beginning of a name.
    part = part[1:] if part.startswith("_$") else part

    def plain(found: re.Match[str]) -> str:
        if found[1] is None:
            return "::" if found[0] == ".." else "."
        if found[1] in _ESCAPES:
            return _ESCAPES[found[1]]
        number = int(found[1][1:], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else found[0]

    return _ESCAPED.sub(plain, part)


class _Parser(Cursor):
    """Of what follows the prefix; places in it count from there."""

    def __init__(self, text: str, spend: Spend) -> None:
        super().__init__(text, spend)
        self._lifetimes = 0
        """Those that `for<'a, …>` around this place has named."""

    def path(self, *, value: bool) -> str:
        """*value*: a place of expressions, where `::<…>` is written."""
        self.deeper()
        found = bounded(self._path(value=value))
        self.higher()
        return found

    def _path(self, *, value: bool) -> str:
        tag = self.take()
        if tag == "C":
            _, name = self._identifier()
            return name
        if tag in ("M", "X"):
            self._disambiguator()
            self.path(value=False)
            own = self.type()
            return f"<{own}>" if tag == "M" else f"<{own} as {self.path(value=False)}>"
        if tag == "Y":
            own = self.type()
            return f"<{own} as {self.path(value=False)}>"
        if tag == "N":
            return self._nested(value=value)
        if tag == "I":
            head, arguments = self.path(value=value), self._list(self._argument)
            return f"{head}{'::' if value else ''}<{', '.join(arguments)}>"
        if tag == "B":
            return self._again(lambda: self.path(value=value))
        raise NotMangledError

    def _nested(self, *, value: bool) -> str:
        space = self.take()
        head = self.path(value=value)
        number, name = self._identifier()
        if space.islower():
            return f"{head}::{name}" if name else head
        kind = {"C": "closure", "S": "shim"}.get(space, space)
        return f"{head}::{{{kind}{':' if name else ''}{name}#{number}}}"

    def _argument(self) -> str:
        if self.skip("L"):
            return self._lifetime(self._number_62())
        if self.skip("K"):
            return self._constant()
        return self.type()

    def _list(self, one: Callable[[], str]) -> list[str]:
        found: list[str] = []
        while not self.skip("E"):
            found.append(one())
            bounded(found[-1])
        return found

    # --- types -----------------------------------------------------------------------------------
    def type(self) -> str:
        self.deeper()
        found = bounded(self._type())
        self.higher()
        return found

    def _type(self) -> str:
        tag = self.take()
        if tag in _BASIC:
            return _BASIC[tag]
        if tag in "RQ":
            lifetime = ""
            if self.skip("L") and (number := self._number_62()):
                lifetime = self._lifetime(number) + " "
            return f"&{lifetime}{'mut ' if tag == 'Q' else ''}{self.type()}"
        if tag in "PO":
            return f"*{'const' if tag == 'P' else 'mut'} {self.type()}"
        if tag == "A":
            return f"[{self.type()}; {self._constant()}]"
        if tag == "S":
            return f"[{self.type()}]"
        if tag == "T":
            found = self._list(self.type)
            return f"({', '.join(found)}{',' if len(found) == 1 else ''})"
        if tag == "F":
            return self._bound(self._function)
        if tag == "D":
            return self._dyn()
        if tag == "B":
            return self._again(self.type)
        self.at -= 1
        return self.path(value=False)

    def _function(self) -> str:
        words = "unsafe " if self.skip("U") else ""
        if self.skip("K"):
            abi = "C" if self.skip("C") else self._identifier()[1].replace("_", "-")
            words += f'extern "{abi}" '
        parameters = ", ".join(self._list(self.type))
        returned = self.type()
        return f"{words}fn({parameters}){'' if returned == '()' else f' -> {returned}'}"

    def _dyn(self) -> str:
        traits = self._bound(lambda: " + ".join(self._list(self._trait)))
        self.expect("L")
        number = self._number_62()
        return f"dyn {traits}{f' + {self._lifetime(number)}' if number else ''}"

    def _trait(self) -> str:
        found = self.path(value=False)
        bindings = []
        while self.skip("p"):
            name = self._identifier()[1]
            bindings.append(f"{name} = {self.type()}")
        if not bindings:
            return found
        inside = ", ".join(bindings)
        return f"{found[:-1]}, {inside}>" if found.endswith(">") else f"{found}<{inside}>"

    def _bound(self, inner: Callable[[], str]) -> str:
        """With the lifetimes that are named for it alone."""
        count = self._number_62() + 1 if self.skip("G") else 0
        if count > 64:
            raise NotMangledError
        self._lifetimes += count
        names = ", ".join(self._lifetime(count - number) for number in range(count))
        found = inner()
        self._lifetimes -= count
        return f"for<{names}> {found}" if count else found

    def _lifetime(self, number: int) -> str:
        """*number* counts from the innermost, and 0 is one without a name."""
        if number == 0:
            return "'_"
        place = self._lifetimes - number
        if place < 0:
            raise NotMangledError
        return f"'{chr(ord('a') + place)}" if place < 26 else f"'_{place}"

    def _constant(self) -> str:
        if self.skip("p"):
            return "_"
        if self.skip("B"):
            return self._again(self._constant)
        kind = self.take()
        sign = "-" if kind in _SIGNED and self.skip("n") else ""
        digits = self.digits("0123456789abcdef")
        self.expect("_")
        if kind in _SIGNED or kind in _UNSIGNED:
            return f"{sign}{_number(digits)}"
        if kind == "b" and digits in ("0", "1"):
            return "true" if digits == "1" else "false"
        if kind == "c" and 0 < len(digits) <= 6 and int(digits, 16) < 0x110000:
            return repr(chr(int(digits, 16)))
        raise NotMangledError

    # --- words -----------------------------------------------------------------------------------
    def _again(self, read: Callable[[], str]) -> str:
        """What was read at an earlier place, read again."""
        here = self.at - 1
        place = self._number_62()
        if place >= here:
            raise NotMangledError
        self.deeper()
        after, self.at = self.at, place
        found = read()
        self.at = after
        self.higher()
        return found

    def _disambiguator(self) -> int:
        return self._number_62() + 1 if self.skip("s") else 0

    def _identifier(self) -> tuple[int, str]:
        number = self._disambiguator()
        is_punycode = self.skip("u")
        # A number that begins with zero is zero.
        length = 0 if self.skip("0") else self.number()
        self.skip("_")
        name = self.characters(length) if length else ""
        if is_punycode:
            ascii_part, mark, code = name.rpartition("_")
            try:
                name = f"{ascii_part}{'-' if mark else ''}{code}".encode().decode("punycode")
            except UnicodeError:
                raise NotMangledError from None
        return number, name

    def _number_62(self) -> int:
        digits = self.digits(_BASE_62)
        self.expect("_")
        if len(digits) > 12:
            raise NotMangledError
        value = 0
        for digit in digits:
            value = value * 62 + _BASE_62.index(digit)
        return value + 1 if digits else 0


def _number(digits: str) -> str:
    if len(digits) > 16:
        return f"0x{digits}"
    return str(int(digits, 16)) if digits else "0"

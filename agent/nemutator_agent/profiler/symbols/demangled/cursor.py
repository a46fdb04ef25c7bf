"""A place in a mangled name, and what it may still cost: the name is a stranger's."""

from collections.abc import Callable

LONGEST_MANGLED = 2048
"""As long as the longest text that is read from a file."""

LONGEST = 4096
"""The longest demangled name. A short mangled one can stand for one of any length, because it may
refer to its own parts again and again."""

DEEPEST = 48
"""The deepest nesting of types and names; each level is a few calls of Python."""
MOST_STEPS = 1024
"""The most types and names in one name. Long true ones have some hundreds."""

COST = 40
"""What each of them costs, in the steps of `Effort`."""

Spend = Callable[[int], None]
"""Takes from the effort that is left for a question; raises what ends it."""


class NotMangledError(ValueError):
    """This is no mangled name, or uses what we do not know: it stays as it is."""


class Cursor:
    def __init__(self, text: str, spend: Spend) -> None:
        self.text = text
        self._spend = spend
        self.at = 0
        self._depth = 0
        self._steps = 0

    @property
    def next(self) -> str:
        """The next character; empty at the end."""
        return self.text[self.at : self.at + 1]

    @property
    def ended(self) -> bool:
        return self.at >= len(self.text)

    def take(self) -> str:
        if self.ended:
            raise NotMangledError
        self.at += 1
        return self.text[self.at - 1]

    def skip(self, wanted: str) -> bool:
        """Whether *wanted* comes next; if so, go past it."""
        if not self.text.startswith(wanted, self.at):
            return False
        self.at += len(wanted)
        return True

    def expect(self, wanted: str) -> None:
        if not self.skip(wanted):
            raise NotMangledError

    def digits(self, allowed: str = "0123456789") -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in allowed:
            self.at += 1
        return self.text[start : self.at]

    def number(self) -> int:
        digits = self.digits()
        if not 0 < len(digits) <= 10:
            raise NotMangledError
        return int(digits)

    def characters(self, count: int) -> str:
        if not 0 < count <= len(self.text) - self.at:
            raise NotMangledError
        self.at += count
        return self.text[self.at - count : self.at]

    def deeper(self) -> None:
        """To be called before each nested part, and `higher` after it."""
        self._depth += 1
        self._steps += 1
        self._spend(COST)
        if self._depth > DEEPEST or self._steps > MOST_STEPS:
            raise NotMangledError

    def higher(self) -> None:
        self._depth -= 1


def bounded(text: str) -> str:
    if len(text) > LONGEST:
        raise NotMangledError
    return text

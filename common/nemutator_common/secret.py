"""A value that is never shown by accident."""

import hmac
from typing import NoReturn, final

MASK = "***"


@final
class Secret:
    """Text that prints as `***` everywhere; `reveal()` is the one way out, and easy to grep for.

    It cannot be pickled, so it cannot get into a cache, a queue between processes or a crash dump
    made by pickling. A comparison takes the same time wherever the two values differ.
    """

    __slots__ = ("__value",)

    def __init__(self, value: str) -> None:
        self.__value = value

    def reveal(self) -> str:
        return self.__value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self.__value.encode(), other.__value.encode())

    # A hash would make secrets usable as keys of dicts, whose lookups do not take constant time.
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self.__value)

    def __repr__(self) -> str:
        return MASK

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not to be pickled or copied")

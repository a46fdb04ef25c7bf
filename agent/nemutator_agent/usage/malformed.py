"""The error of every parser here: a file of the kernel differs from its documentation."""


class MalformedError(ValueError):
    """The message names the kind of file and what was expected."""


def whole(digits: bytes, what: str) -> int:
    """Digits as a number. `int()` alone would take signs, blanks, underscores and any length."""
    if not digits.isdigit() or len(digits) > 20:
        raise MalformedError(f"{what}: expected a number")
    return int(digits)

"""The one error of every parser here: the kernel's file is not what its documentation says."""


class MalformedError(ValueError):
    """The message names the file's kind and what was expected."""


def whole(digits: bytes, what: str) -> int:
    """Digits as a number; `int()` alone takes signs, spaces and underscores, and any length."""
    if not digits.isdigit() or len(digits) > 20:
        raise MalformedError(f"{what}: expected a number")
    return int(digits)

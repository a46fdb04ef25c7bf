"""What the brain answers, as typed values; an answer of another shape is one message for people."""

from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

import msgspec
from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.terminal_text import visible

LINKS_PATH = "/api/v1/console-links"

Shape = TypeVar("Shape")

Amount = Annotated[float, msgspec.Meta(ge=-1e18, le=1e18)]
"""A number that can be counted with: JSON as Python reads it has NaN and infinity as well."""

Moment = Annotated[float, msgspec.Meta(ge=0, lt=1e11)]
"""Seconds since the epoch, as far as a calendar goes."""


@dataclass(frozen=True, slots=True)
class Listing(Generic[Shape]):
    items: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class _ConsoleLink:
    url: str


def understood(document: object, shape: type[Shape], what: str) -> Shape:
    """*document* as a *shape*; an `OperatorError` when it is not *what* was asked for."""
    try:
        return msgspec.convert(document, shape)
    except (msgspec.ValidationError, UnicodeError) as error:
        raise not_understood(f"not {what}: {visible(str(error), limit=200)}") from error


def link(document: object) -> str:
    """The link that opens the console once, or an `OperatorError` when *document* has none."""
    url = understood(document, _ConsoleLink, "a link").url
    # It is printed as it is, because a terminal makes it something to click on.
    if not url.isascii() or not url.isprintable():
        raise not_understood("not a link that can be printed")
    return url


def not_understood(why: str) -> OperatorError:
    return OperatorError(
        f"the controller's answer is not understood: {why}",
        remedy="run the same version of nemutator on both sides; `nemutator version` prints it",
        code=ExitCode.UNREACHABLE,
    )

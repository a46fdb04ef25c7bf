"""The link in an answer of the brain, and what to say of an answer that is not understood."""

from collections.abc import Mapping

from nemutator_common.errors import ExitCode, OperatorError

LINKS_PATH = "/api/v1/console-links"


def link(document: object) -> str:
    """The link that opens the console once, or an `OperatorError` when *document* has none."""
    url = document.get("url") if isinstance(document, Mapping) else None
    # It is printed as it is, because a terminal makes it something to click on.
    if not isinstance(url, str) or not url.isascii() or not url.isprintable():
        raise not_understood("no link in it")
    return url


def not_understood(why: str) -> OperatorError:
    return OperatorError(
        f"the controller's answer is not understood: {why}",
        remedy="run the same version of nemutator on both sides; `nemutator version` prints it",
        code=ExitCode.UNREACHABLE,
    )

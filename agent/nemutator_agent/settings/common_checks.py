"""What several of the agent's settings must be: a node's name, an absolute path."""

import re
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError

_NODE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")


def node(value: str) -> str | None:
    if not value or _NODE.fullmatch(value):
        return None
    return "expected a host name: letters, digits, dots and dashes, at most 253"


def reported_name(node: str, host: str) -> str:
    """What the machine called *host* is reported as: *node* where it was named. A brain refuses what is
    not a host name."""
    if not node and not _NODE.fullmatch(host):
        raise OperatorError(
            f"this machine's host name cannot be reported: {host[:253]!r}",
            remedy="name it for us with --node, or give the machine another host name",
            code=ExitCode.SETTINGS,
        )
    return node or host


def absolute(value: Path) -> str | None:
    plain = value.is_absolute() and ".." not in value.parts
    return None if plain else "expected an absolute path"


def absolute_or_empty(value: str) -> str | None:
    return absolute(Path(value)) if value else None

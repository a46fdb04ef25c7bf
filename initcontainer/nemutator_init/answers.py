"""What the agent's answers mean for a pod that waits to start."""

import json
from dataclasses import dataclass

from nemutator_common.declarations import MOST, is_name

LARGEST = 1 << 20
"""Bytes of one answer: Vault's own limit for a secret, and the size of a pod's volume."""

_AGAIN = frozenset({429, 500, 502, 503, 504})
"""The agent, or Vault behind it, is not ready; the same request may succeed later."""


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    status: int
    body: bytes


class NotYetError(Exception):
    """The answer may be different later; the text names what is missing."""


class NeverError(Exception):
    """A person has to change something; the text names it, and never holds a value."""


def declared_names(answer: AgentAnswer) -> tuple[str, ...]:
    """Names of the secrets that the pod declares. Raises NotYetError, NeverError."""
    check(answer, "the list of what this pod declares")
    return _names(answer, "secrets")


def file_names(answer: AgentAnswer) -> tuple[str, ...]:
    """Names of the files that the agent has written. Raises NotYetError, NeverError."""
    check(answer, "the pod's files")
    return _names(answer, "files")


def _names(answer: AgentAnswer, key: str) -> tuple[str, ...]:
    try:
        given = json.loads(answer.body)[key]
        names = tuple(given)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise NeverError(_STRANGE) from None
    if len(names) > MOST or not all(isinstance(name, str) and is_name(name) for name in names):
        raise NeverError(_STRANGE)
    return names


def value_of(name: str, answer: AgentAnswer) -> bytes:
    """The secret itself. Raises NotYetError, NeverError."""
    check(answer, f"secret {name!r}")
    return answer.body


_STRANGE = (
    "the agent's answer is not understood; remedy: let the init container's image and the agent's "
    "be of one version"
)


def check(answer: AgentAnswer, what: str) -> None:
    """Raises NotYetError or NeverError, unless the agent has given *what* was asked for."""
    if answer.status == 200:
        return
    why = f"{what}: {_explained(answer)}"
    raise (NotYetError if answer.status in _AGAIN else NeverError)(why)


def _explained(answer: AgentAnswer) -> str:
    """The step, the error and the remedy that the agent names."""
    try:
        given = json.loads(answer.body)
        error, remedy, step = (given[key] for key in ("error", "remedy", "step"))
    except (ValueError, TypeError, KeyError, RecursionError):
        return f"the agent answers with HTTP status {answer.status}"
    parts = [f"{error} (step: {step})", f"remedy: {remedy}"]
    return "; ".join(_shown(part) for part in parts)


def _shown(text: str) -> str:
    """*text* on one line and not too long, for a log and for the pod's status."""
    return "".join(one if one.isprintable() else " " for one in text[:500])

"""Every span of a trace, declared once with its meaning and its attributes, which never hold a secret."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TracedSpan:
    name: str
    meaning: str
    attributes: tuple[str, ...]


DECISION_SPAN = TracedSpan(
    "decision",
    "admission decides on one object; it continues the trace of the API server that asks",
    ("result", "namespace", "kind", "decision"),
)
VAULT_SPAN = TracedSpan("vault", "one call of Vault", ("operation", "result"))
PROFILE_SPAN = TracedSpan(
    "profile",
    "one profile is made on a node, from taking the request to its outcome",
    ("profile", "kind", "state"),
)
RESIZE_SPAN = TracedSpan(
    "resize", "one pod is resized in place", ("namespace", "pod", "decision", "result")
)

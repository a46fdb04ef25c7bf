"""The names of one kind, for documentation and for tests."""

from typing import TypeVar

from nemutator_common.names import (
    admission_metrics,
    agent_metrics,
    controller_metrics,
    log_keys,
    metrics,
    placement_metrics,
    profile_metrics,
    running_pod_metrics,
    season_metrics,
    spans,
    usage_metrics,
    words,
)
from nemutator_common.names.log_keys import Key
from nemutator_common.names.metrics import Metric
from nemutator_common.names.spans import TracedSpan
from nemutator_common.names.words import Word

Declared = TypeVar("Declared", Key, Metric, TracedSpan, Word)


def declared(kind: type[Declared]) -> tuple[Declared, ...]:
    """All names of one *kind*, in the order of their file."""
    return tuple(
        value
        for module in (
            words,
            spans,
            log_keys,
            metrics,
            agent_metrics,
            controller_metrics,
            admission_metrics,
            running_pod_metrics,
            usage_metrics,
            season_metrics,
            profile_metrics,
            placement_metrics,
        )
        for value in vars(module).values()
        if isinstance(value, kind)
    )

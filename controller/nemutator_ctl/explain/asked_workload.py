"""The advice on one workload, and how much it has used, as a brain says it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.api import Api
from nemutator_ctl.explain.view import (
    ADVICE_PATH,
    HISTOGRAMS_PATH,
    Container,
    Explained,
    UsedBefore,
    chosen,
    decode,
    decode_histograms,
    nothing_of,
)


@dataclass(frozen=True, slots=True)
class AskedWorkload:
    rows: Sequence[Explained]
    used: Mapping[Container, UsedBefore]


def asked(brain: Api, workload: str, container: str | None, namespace: str | None) -> AskedWorkload:
    """Raises `OperatorError` where there is nothing to explain."""
    query = (
        {"workload": workload}
        if namespace is None
        else {"namespace": namespace, "workload": workload}
    )
    # A brain that is older answers with all there is in the namespace.
    recommendations = decode(brain.get(ADVICE_PATH, query))
    rows = chosen(recommendations, workload, container)
    if not rows:
        raise OperatorError(
            nothing_of(workload, container, chosen(recommendations, workload, None)),
            remedy="`nemutator advise` shows all that was",
            code=ExitCode.FAILED,
        )
    wanted = query if container is None else {**query, "container": container}
    used = decode_histograms(brain.get(HISTOGRAMS_PATH, wanted))
    return AskedWorkload(rows, used)

"""Signals to containers, which nobody gets."""

from nemutator_agent.credentials.signals.outcomes import SignalOutcome
from nemutator_common.on_rotate import ContainerSignal


class RecordedSignals:
    """A `SignalsContainers`."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        """Pod and signal of each."""
        self.outcome = SignalOutcome.SENT

    async def send(self, pod_uid: str, wanted: ContainerSignal) -> SignalOutcome:
        self.sent.append(f"{pod_uid} {wanted}")
        return self.outcome

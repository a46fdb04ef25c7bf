"""What sources of recorded use need from others, and what they are to the rest."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Protocol

from nemutator_controller.prometheus_answers import PrometheusAnswer
from nemutator_controller.sizing.keys import ContainerKey, Requested
from nemutator_controller.sizing.sources.datadog_answers import DatadogAnswer
from nemutator_controller.sizing.sources.datadog_questions import DatadogQuestion
from nemutator_controller.sizing.sources.recorded_steps import RecordedSteps


class PrometheusQueries(Protocol):
    """Raises `PrometheusUnavailableError` and `PrometheusRefusedError`; there is always a deadline."""

    async def query(self, expression: str, *, at: float | None = None) -> PrometheusAnswer: ...

    async def query_range(
        self, expression: str, *, begin: float, end: float, step_s: float
    ) -> PrometheusAnswer: ...


class DatadogQueries(Protocol):
    async def ask(self, question: DatadogQuestion, *, units: Sequence[str]) -> DatadogAnswer:
        """The series of each query, whose metrics usually have *units*.

        Raises `DatadogUnavailableError`, `DatadogRefusedError` and `DatadogBusyError`; there is always a deadline.
        """
        ...


class UsageSource(Protocol):
    """Somebody else who has recorded what containers used."""

    def steps(
        self, *, begin: float, end: float, namespaces: Collection[str] | None = None
    ) -> AsyncIterator[RecordedSteps]:
        """All that it knows of that time and these namespaces, or of all, in parts; of each container those that are
        older come first.

        Raises `SourceUnavailableError`.
        """
        ...

    @property
    def dropped(self) -> Mapping[str, int]:
        """Samples that were left out so far, by reason."""
        ...


class PodKeys(Protocol):
    def of(self, namespace: str, pod: str, container: str) -> ContainerKey | None:
        """Whose container that is or was; None: nobody knows."""
        ...


class SourceRequests(Protocol):
    async def requested(self) -> Mapping[ContainerKey, Requested]: ...

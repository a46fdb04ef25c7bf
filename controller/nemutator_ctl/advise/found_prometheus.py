"""Asks a Prometheus of a cluster by its API server, as whoever the kubeconfig names: no address has to be known."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from nemutator_common.errors import OperatorError
from nemutator_controller.prometheus_answers import (
    PrometheusAnswer,
    PrometheusRefusedError,
    PrometheusUnavailableError,
    UnreadablePrometheusError,
    read_answer,
)
from nemutator_controller.prometheus_services import FoundService

from nemutator_ctl.cluster_access import ClusterAccess
from nemutator_ctl.exchanges import LARGEST_ANSWER

LONGEST_SAID = 200


@dataclass(frozen=True, slots=True)
class FoundPrometheus:
    """A `PrometheusQueries`. It blocks: a command asks one question after another."""

    access: ClusterAccess
    service: FoundService
    timeout_s: float = 60.0

    async def query(self, expression: str, *, at: float | None = None) -> PrometheusAnswer:
        asked = {} if at is None else {"time": f"{at:.3f}"}
        return self._ask("query", {"query": expression, **asked})

    async def query_range(
        self, expression: str, *, begin: float, end: float, step_s: float
    ) -> PrometheusAnswer:
        moments = {"start": f"{begin:.3f}", "end": f"{end:.3f}", "step": f"{step_s:.3f}"}
        return self._ask("query_range", {"query": expression, **moments})

    def _ask(self, path: str, form: Mapping[str, str]) -> PrometheusAnswer:
        # The API server gives a request a minute, and so do we.
        asked = {**form, "timeout": f"{self.timeout_s - 5:.0f}s"}
        try:
            status, content = self.access.ask_service(
                self.service, f"/api/v1/{path}", asked, timeout_s=self.timeout_s
            )
        except OperatorError as error:
            raise PrometheusUnavailableError(str(error)) from error
        if len(content) > LARGEST_ANSWER:
            raise PrometheusRefusedError(f"{self.service} answers more than {LARGEST_ANSWER} bytes")
        if status != 200:
            said = content[:LONGEST_SAID].decode(errors="replace")
            what = f"{self.service} answers {status}: {said}"
            if status >= 500 or status == 429:
                raise PrometheusUnavailableError(what)
            raise PrometheusRefusedError(what)
        try:
            return read_answer(content, now=time.time())
        except UnreadablePrometheusError as error:
            raise PrometheusRefusedError(f"{self.service} cannot be read: {error}") from error

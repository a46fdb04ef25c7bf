"""Asks a Prometheus of a cluster by its API server, as whoever the kubeconfig names: no address has to be known."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from nemutator_common.errors import OperatorError
from nemutator_controller.prometheus_answers import PrometheusAnswer, PrometheusUnavailableError
from nemutator_controller.prometheus_services import FoundService

from nemutator_ctl.advise.prometheus_exchange import at_moment, over_time, understood
from nemutator_ctl.cluster_access import ClusterAccess
from nemutator_ctl.exchanges import LARGEST_ANSWER


@dataclass(frozen=True, slots=True)
class FoundPrometheus:
    """A `PrometheusQueries`. It blocks: a command asks one question after another."""

    access: ClusterAccess
    service: FoundService
    timeout_s: float = 60.0

    async def query(self, expression: str, *, at: float | None = None) -> PrometheusAnswer:
        return self._ask("query", at_moment(expression, at))

    async def query_range(
        self, expression: str, *, begin: float, end: float, step_s: float
    ) -> PrometheusAnswer:
        asked = over_time(expression, begin=begin, end=end, step_s=step_s)
        return self._ask("query_range", asked)

    def _ask(self, path: str, form: Mapping[str, str]) -> PrometheusAnswer:
        # The API server gives a request a minute, and so do we.
        asked = {**form, "timeout": f"{self.timeout_s - 5:.0f}s"}
        try:
            status, content = self.access.ask_service(
                self.service, f"/api/v1/{path}", asked, timeout_s=self.timeout_s
            )
        except OperatorError as error:
            raise PrometheusUnavailableError(str(error)) from error
        return understood(str(self.service), status, content, most=LARGEST_ANSWER, now=time.time())

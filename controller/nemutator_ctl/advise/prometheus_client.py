"""Asks a Prometheus for what containers used, with nothing of ours installed anywhere.

On the standard library's client, as all that a command asks. Redirects are not followed: they would send a secret to
somebody else.
"""

import http.client
import ssl
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlencode

from nemutator_controller.prometheus_answers import PrometheusAnswer, PrometheusUnavailableError

from nemutator_ctl.advise.prometheus_exchange import at_moment, over_time, understood
from nemutator_ctl.advise.whole_exchanges import asked
from nemutator_ctl.exchanges import LARGEST_ANSWER, reason


@dataclass(frozen=True, slots=True)
class PrometheusClient:
    """A `PrometheusQueries`. It blocks: a command asks one question after another."""

    address: SplitResult
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    trust: ssl.SSLContext | None = None
    timeout_s: float = 60.0

    async def query(self, expression: str, *, at: float | None = None) -> PrometheusAnswer:
        return self._ask("query", at_moment(expression, at))

    async def query_range(
        self, expression: str, *, begin: float, end: float, step_s: float
    ) -> PrometheusAnswer:
        form = over_time(expression, begin=begin, end=end, step_s=step_s)
        return self._ask("query_range", form)

    def _ask(self, path: str, form: Mapping[str, str]) -> PrometheusAnswer:
        where = f"{self.address.hostname}:{self._port}"
        target = f"{self.address.path.rstrip('/')}/api/v1/{path}"
        body = urlencode({**form, "timeout": f"{self.timeout_s:.0f}s"}).encode()
        headers = {
            "Connection": "close",
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept-Encoding": "identity",
            **self.headers,
        }
        try:
            with closing(self._connection()) as connection:
                response, content = asked(
                    connection, target, body=body, headers=headers, most=LARGEST_ANSWER,
                    within_s=self.timeout_s,
                )  # fmt: skip
        except (OSError, http.client.HTTPException) as error:
            raise PrometheusUnavailableError(f"{where}: {reason(error)}") from error
        return understood(where, response.status, content, most=LARGEST_ANSWER, now=time.time())

    @property
    def _port(self) -> int:
        return self.address.port or (443 if self.trust is not None else 80)

    def _connection(self) -> http.client.HTTPConnection:
        host = str(self.address.hostname)
        if self.trust is None:
            return http.client.HTTPConnection(host, self._port, timeout=self.timeout_s)
        return http.client.HTTPSConnection(
            host, self._port, timeout=self.timeout_s, context=self.trust
        )

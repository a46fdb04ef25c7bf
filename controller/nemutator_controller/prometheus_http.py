"""Prometheus, Thanos, Mimir or VictoriaMetrics, asked over HTTP."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from nemutator_common.clocks import Clock
from nemutator_common.shipping.files import RereadFile

from nemutator_controller.http_accounts import NOBODY, HttpAccount
from nemutator_controller.posts_http import NotTakenError, ask
from nemutator_controller.prometheus_answers import (
    PrometheusAnswer,
    PrometheusRefusedError,
    PrometheusTooMuchError,
    PrometheusUnavailableError,
    UnreadablePrometheusError,
    read_answer,
)

DEADLINE_S = 30.0
LONGEST_ANSWER = 16 << 20
"""A sample is some 25 bytes: 600 000 of them."""

_HEADERS = {"Content-Type": "application/x-www-form-urlencoded", "Accept-Encoding": "identity"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusHttp:
    url: str
    """Before `/api/v1/query`."""
    clock: Clock
    account: HttpAccount = NOBODY
    ca: RereadFile | None = None
    """Who signs its certificate, where the machine's own authorities do not."""
    certificate: tuple[Path, Path] | None = None
    deadline_s: float = DEADLINE_S
    longest: int = LONGEST_ANSWER

    async def query(self, expression: str, *, at: float | None = None) -> PrometheusAnswer:
        """A vector, as of *at* or of now; each of its series has one sample."""
        asked = {} if at is None else {"time": f"{at:.3f}"}
        return await self._ask("query", {"query": expression, **asked})

    async def query_range(
        self, expression: str, *, begin: float, end: float, step_s: float
    ) -> PrometheusAnswer:
        """A matrix: *expression* at *begin*, and then every *step_s* up to *end*.

        Raises the two errors above; there is no other one, and always a deadline.
        """
        moments = {"start": f"{begin:.3f}", "end": f"{end:.3f}", "step": f"{step_s:.3f}"}
        # VictoriaMetrics moves the moments of a long range to those that its cache has, unless it is not to use that.
        asked = {"query": expression, **moments, "nocache": "1"}
        return await self._ask("query_range", asked)

    async def _ask(self, path: str, form: dict[str, str]) -> PrometheusAnswer:
        # Prometheus gives up when we do: it would compute on for nobody.
        form["timeout"] = f"{self.deadline_s:.3f}"
        try:
            async with asyncio.timeout(self.deadline_s):
                content = await ask(
                    f"{self.url.rstrip('/')}/api/v1/{path}",
                    # As a form: what names many series is longer than a line of HTTP may be.
                    urlencode(form).encode(),
                    _HEADERS,
                    longest=self.longest,
                    account=self.account,
                    ca=self.ca,
                    certificate=self.certificate,
                )
                # Half a million samples take a tenth of a second.
                return await asyncio.to_thread(read_answer, content, now=self.clock.now())
        except TimeoutError:
            why = f"{self.url} has not answered within {self.deadline_s:g} s"
            raise PrometheusUnavailableError(why) from None
        except UnreadablePrometheusError as error:
            raise PrometheusRefusedError(f"{self.url} cannot be read: {error}") from None
        except NotTakenError as error:
            # 503 is its own word for a query that took too long, or was cut off.
            if error.status is None or error.status >= 500 or error.status == 429:
                raise PrometheusUnavailableError(str(error)) from None
            # 422 is what Prometheus and VictoriaMetrics answer who ask for more samples or points than they are to compute, 413
            # what Mimir answers where its own parts send each other too much, and proxies to a form that names too many
            # namespaces; with a status of success the answer was too long for us.
            if error.status in (413, 422) or error.status // 100 == 2:
                raise PrometheusTooMuchError(str(error)) from None
            raise PrometheusRefusedError(str(error)) from None

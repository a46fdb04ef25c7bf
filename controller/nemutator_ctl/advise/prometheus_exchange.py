"""What a Prometheus is asked and what its answer is, by whichever way a command reaches it: pure."""

from collections.abc import Mapping
from http import HTTPStatus

from nemutator_controller.prometheus_answers import (
    PrometheusAnswer,
    PrometheusRefusedError,
    PrometheusTooMuchError,
    PrometheusUnavailableError,
    UnreadablePrometheusError,
    read_answer,
)

LONGEST_SAID = 200
_TOO_MUCH = (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY)
"""Of Mimir and of proxies; of Prometheus and VictoriaMetrics."""


def at_moment(expression: str, at: float | None) -> Mapping[str, str]:
    """The form of `query`; None: now."""
    return {"query": expression} if at is None else {"query": expression, "time": f"{at:.3f}"}


def over_time(expression: str, *, begin: float, end: float, step_s: float) -> Mapping[str, str]:
    """The form of `query_range`."""
    moments = {"start": f"{begin:.3f}", "end": f"{end:.3f}", "step": f"{step_s:.3f}"}
    # VictoriaMetrics moves the moments of a long range to those that its cache has, unless it is not to use that.
    return {"query": expression, **moments, "nocache": "1"}


def understood(
    where: str, status: int, content: bytes, *, most: int, now: float
) -> PrometheusAnswer:
    """What *where* has answered, in *most* bytes; raises `PrometheusRefusedError`, `PrometheusTooMuchError` where asking for less
    may help, and `PrometheusUnavailableError` where asking again may."""
    if len(content) > most:
        raise PrometheusTooMuchError(f"{where} answers more than {most} bytes")
    if status != HTTPStatus.OK:
        said = content[:LONGEST_SAID].decode(errors="replace")
        what = f"{where} answers {status}: {said}"
        if status >= 500 or status == HTTPStatus.TOO_MANY_REQUESTS:
            raise PrometheusUnavailableError(what)
        if status in _TOO_MUCH:
            raise PrometheusTooMuchError(what)
        raise PrometheusRefusedError(what)
    try:
        return read_answer(content, now=now)
    except UnreadablePrometheusError as error:
        raise PrometheusRefusedError(f"{where} cannot be read: {error}") from error

"""A Datadog that answers `POST /api/v2/query/timeseries` as its documentation and the recordings of its own clients
say: for the few forms of queries that nemutator asks."""

import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

MOST_POINTS = 1_500
"""Of a series."""

_QUERY = re.compile(
    r"(?P<space>max|sum):(?P<metric>[a-z_.]+)\{(?P<scope>[^}]*)\} by \{(?P<by>[a-z_,]+)\}"
    r"\.rollup\((?P<time>avg|max), (?P<step>[0-9]+)\)"
)
_ONE = re.compile(r"(?P<tag>[a-z_]+):(?P<value>[^ ]+)")
_SEVERAL = re.compile(r"(?P<tag>[a-z_]+) IN \((?P<values>[^)]+)\)")

Tags = frozenset[tuple[str, str]]

NANOCORE = [{"family": "cpu", "id": 142, "name": "nanocore", "scale_factor": 1e-9}, None]
CORE = [{"family": "cpu", "id": 141, "name": "core", "scale_factor": 1.0}, None]
BYTE = [{"family": "bytes", "id": 2, "name": "byte", "scale_factor": 1.0}, None]

UNITS: Mapping[str, object] = {
    "kubernetes.cpu.usage.total": NANOCORE,
    "kubernetes.cpu.requests": CORE,
    "kubernetes.memory.working_set": BYTE,
    "kubernetes.memory.requests": BYTE,
}


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


_HOW: Mapping[str, Callable[[Iterable[float]], float]] = {"max": max, "sum": sum, "avg": _mean}


class _BadInputError(Exception):
    pass


@dataclass
class FakeDatadog:
    api_key: str = "api"
    application_key: str = "application"
    left: int = 1_600
    """Of the questions that are answered in this period."""
    reset_s: int = 7
    url: str = ""
    said: bytes | None = None
    """In the place of an answer."""
    kept: dict[tuple[str, Tags], dict[float, float]] = field(default_factory=dict)
    asked: list[Mapping[str, Any]] = field(default_factory=list)

    def keep(self, metric: str, points: Mapping[float, float], **tags: str) -> None:
        """Gauges, as its Agent sends them."""
        self.kept.setdefault((metric, frozenset(tags.items())), {}).update(points)

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator["FakeDatadog"]:
        application = web.Application()
        application.add_routes([web.post("/api/v2/query/timeseries", self._answer)])
        runner = web.AppRunner(application)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            yield self
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        keys = request.headers.get("DD-API-KEY"), request.headers.get("DD-APPLICATION-KEY")
        if keys != (self.api_key, self.application_key):
            # Somebody on the way may put what was sent into what is answered.
            return _errors(403, f"Forbidden {keys}")
        limits = {
            "X-RateLimit-Limit": "1600",
            "X-RateLimit-Period": "3600",
            "X-RateLimit-Remaining": str(max(0, self.left - 1)),
            "X-RateLimit-Reset": str(self.reset_s),
        }
        if self.left <= 0:
            return _errors(429, "Too many requests", limits)
        self.left -= 1
        document = await request.json()
        self.asked.append(document)
        try:
            body = self.said or json.dumps(self.answer(document)).encode()
        except _BadInputError as error:
            return _errors(400, f"API input validation failed: {error}", limits)
        return web.Response(body=body, headers=limits, content_type="application/vnd.api+json")

    def answer(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        data = document.get("data", {})
        if data.get("type") != "timeseries_request":
            raise _BadInputError('Invalid type. Expected "timeseries_request".')
        asked = data["attributes"]
        begin, end = asked["from"], asked["to"]
        if not all(isinstance(one, int) and one > 1e12 for one in (begin, end)):
            raise _BadInputError("from and to are milliseconds")
        queries = {one["name"]: one for one in asked["queries"]}
        found = []
        for number, formula in enumerate(asked["formulas"]):
            query = queries[formula["formula"]]
            if query["data_source"] != "metrics":
                raise _BadInputError("data_source")
            for tags, unit, points in self._series(query["query"], begin / 1_000, end / 1_000):
                found.append(({"group_tags": tags, "query_index": number, "unit": unit}, points))
        times = sorted({at for _, points in found for at in points})
        return {
            "data": {
                "id": "0",
                "type": "timeseries_response",
                "attributes": {
                    "series": [one for one, _ in found],
                    "times": [round(at * 1_000) for at in times],
                    "values": [[points.get(at) for at in times] for _, points in found],
                },
            }
        }

    def _series(
        self, query: str, begin: float, end: float
    ) -> Iterable[tuple[list[str], object, Mapping[float, float]]]:
        asked = _QUERY.fullmatch(query)
        if asked is None:
            raise _BadInputError(f"cannot parse {query!r}")
        step, by = int(asked["step"]), asked["by"].split(",")
        while (end - begin) / step > MOST_POINTS:
            step *= 2
        groups: dict[tuple[str, ...], dict[float, list[float]]] = {}
        for (metric, tags), points in self.kept.items():
            if metric != asked["metric"] or not _fits(dict(tags), asked["scope"]):
                continue
            steps: dict[float, list[float]] = {}
            for at, value in points.items():
                if begin // step * step <= at < end:
                    steps.setdefault(at // step * step, []).append(value)
            group = groups.setdefault(tuple(dict(tags).get(one, "N/A") for one in by), {})
            for at, values in steps.items():
                group.setdefault(at, []).append(_HOW[asked["time"]](values))
        for names, of_step in groups.items():
            told = [f"{tag}:{name}" for tag, name in zip(by, names, strict=True)]
            points = {at: _HOW[asked["space"]](values) for at, values in of_step.items()}
            if points:
                yield told, UNITS.get(asked["metric"]), points


def _fits(tags: Mapping[str, str], scope: str) -> bool:
    if scope == "*":
        return True
    for part in scope.split(" AND "):
        if one := _ONE.fullmatch(part):
            if tags.get(one["tag"]) != one["value"]:
                return False
        elif several := _SEVERAL.fullmatch(part):
            if tags.get(several["tag"]) not in several["values"].split(", "):
                return False
        else:
            raise _BadInputError(f"cannot parse the scope {part!r}")
    return True


def _errors(status: int, said: str, headers: Mapping[str, str] | None = None) -> web.Response:
    body = json.dumps({"errors": [said]}).encode()
    return web.Response(status=status, body=body, headers=headers, content_type="application/json")

"""A Prometheus that takes remote write and answers the few forms of queries that nemutator asks."""

import contextlib
import itertools
import json
import math
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from aiohttp import web

from tests.fakes.remote_write import Labels, MemoryReceiver

LOOKBACK_S = 300.0

_MATCHER = r'[a-z_]+="(?:[^"\\]|\\.)*"'
_SELECTOR = rf"(?P<name>[a-z_]+)\{{(?P<matchers>(?:{_MATCHER})?(?:,{_MATCHER})*)\}}"
_OVER_TIME = re.compile(
    rf"label_replace\((?P<function>[a-z]+)_over_time\({_SELECTOR}\[(?P<range>[0-9]+)s\]\), ?"
    r'"(?P<label>[a-z_]+)", ?"(?P<value>[a-z_]+)", ?"", ?""\)'
)
_PLAIN = re.compile(_SELECTOR)

_LOOSE = r'[a-z_]+(?:!=|=~|=)"(?:[^"\\]|\\.)*"'
_SERIES = rf"(?P<name>[a-z_0-9:]+)(?:\{{(?P<matchers>{_LOOSE}(?:,{_LOOSE})*)\}})?"
_GROUPED = re.compile(r"(?P<how>max|count) by \((?P<labels>[a-z_, ]+)\) \((?P<rest>.+)\)")
_RANGED = re.compile(rf"(?P<function>rate|max_over_time)\({_SERIES}\[(?P<range>[0-9]+)s\]\)")
_BARE = re.compile(_SERIES)
_SUBQUERY = re.compile(
    r"(?P<function>[a-z]+)_over_time\((?P<rest>.+)\[(?P<range>[0-9]+)s:(?P<step>[0-9]+)s\]\)"
)

_FUNCTIONS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "avg": lambda values: math.fsum(values) / len(values),
    "min": min,
    "max": max,
    "count": lambda values: float(len(values)),
    "sum": math.fsum,
}


@dataclass
class FakePrometheus(MemoryReceiver):
    url: str = ""
    status: int = 200
    said: bytes | None = None
    """In the place of an answer."""
    warnings: Sequence[str] = ()
    """Beside each answer."""
    headers: Mapping[str, str] = field(default_factory=dict)
    asked: list[tuple[Mapping[str, str], Mapping[str, str]]] = field(default_factory=list)
    """Headers and form of each query."""

    @contextlib.asynccontextmanager
    async def serving(
        self, host: str = "127.0.0.1", **where: object
    ) -> AsyncIterator["FakePrometheus"]:
        application = web.Application(client_max_size=64 << 20)
        application.add_routes(
            [
                web.post("/api/v1/write", self._write),
                web.post("/api/v1/query", self._query),
                web.post("/api/v1/query_range", self._query_range),
            ]
        )
        runner = web.AppRunner(application)
        await runner.setup()
        try:
            site = web.TCPSite(runner, host, 0, **where)  # type: ignore[arg-type]
            await site.start()
            scheme = "https" if where else "http"
            self.url = f"{scheme}://127.0.0.1:{runner.addresses[0][1]}"
            yield self
        finally:
            await runner.cleanup()

    async def _write(self, request: web.Request) -> web.Response:
        self.take(await request.read())
        return web.Response(status=204)

    async def _query(self, request: web.Request) -> web.Response:
        form = await self._form(request)
        at = float(form.get("time", "nan"))
        if math.isnan(at):
            at = max(moment for series in self.kept.values() for moment in series) / 1000
        result = [
            {"metric": dict(labels), "value": [at, str(value)]}
            for labels, value in self._found(form["query"], at)
        ]
        return self._answer("vector", result)

    async def _query_range(self, request: web.Request) -> web.Response:
        form = await self._form(request)
        at, end, step_s = (float(form[name]) for name in ("start", "end", "step"))
        found: dict[Labels, list[list[object]]] = {}
        while at <= end:
            for labels, value in self._found(form["query"], at):
                found.setdefault(labels, []).append([at, str(value)])
            at += step_s
        return self._answer(
            "matrix", [{"metric": dict(one), "values": values} for one, values in found.items()]
        )

    async def _form(self, request: web.Request) -> Mapping[str, str]:
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.asked.append((dict(request.headers), form))
        return form

    def _answer(self, kind: str, result: object) -> web.Response:
        body = self.said
        if body is None:
            whole: dict[str, object] = {
                "status": "success",
                "data": {"resultType": kind, "result": result},
            }
            if self.warnings:
                whole["warnings"] = list(self.warnings)
            body = json.dumps(whole).encode()
        return web.Response(
            status=self.status, body=body, headers=self.headers, content_type="application/json"
        )

    def _grouped(self, expression: str, at: float) -> list[tuple[Labels, float]]:
        """What sizing asks: a function over a range, of groups the largest or their number."""
        if grouped := _GROUPED.fullmatch(expression):
            names = grouped["labels"].split(", ")
            groups: dict[Labels, list[float]] = {}
            for labels, value in self._grouped(grouped["rest"], at):
                kept = {name: text for name, text in dict(labels).items() if name in names}
                groups.setdefault(frozenset(kept.items()), []).append(value)
            how = max if grouped["how"] == "max" else _FUNCTIONS["count"]
            return [(labels, how(values)) for labels, values in groups.items()]
        if subquery := _SUBQUERY.fullmatch(expression):
            return self._stepped(subquery, at)
        ranged = _RANGED.fullmatch(expression)
        asked = ranged or _BARE.fullmatch(expression)
        assert asked, f"this fake does not read {expression}"
        span_s = float(ranged["range"]) if ranged else LOOKBACK_S
        found = []
        for labels, series in self.kept.items():
            if not _fits(dict(labels), asked):
                continue
            points = [
                (moment / 1000, value)
                for moment, value in sorted(series.items())
                if at - span_s < moment / 1000 <= at
            ]
            result = _over(points, ranged["function"] if ranged else "")
            if result is not None:
                named = {**dict(labels)}
                if ranged:
                    named.pop("__name__")
                found.append((frozenset(named.items()), result))
        return found

    def _stepped(self, subquery: re.Match[str], at: float) -> list[tuple[Labels, float]]:
        """At multiples of its step, as the real one has it, whenever it is asked."""
        span, step = int(subquery["range"]), int(subquery["step"])
        found: dict[Labels, list[float]] = {}
        first = (int(at - span) // step + 1) * step
        for moment in range(first, int(at) + 1, step):
            for labels, value in self._grouped(subquery["rest"], moment):
                named = {name: text for name, text in dict(labels).items() if name != "__name__"}
                found.setdefault(frozenset(named.items()), []).append(value)
        how = _FUNCTIONS[subquery["function"]]
        return [(labels, how(values)) for labels, values in found.items()]

    def _found(self, expression: str, at: float) -> list[tuple[Labels, float]]:
        if " by (" in expression or _RANGED.fullmatch(expression) or "=~" in expression:
            return self._grouped(expression, at)
        if plain := _PLAIN.fullmatch(expression):
            return [
                (labels, values[-1])
                for labels, values in self._selected(plain, at, LOOKBACK_S)
                if values
            ]
        found: dict[Labels, float] = {}
        for term in expression.split(" or "):
            asked = _OVER_TIME.fullmatch(term)
            assert asked, f"this fake does not read {term}"
            for labels, values in self._selected(asked, at, float(asked["range"])):
                if not values:
                    continue
                named = {**dict(labels), asked["label"]: asked["value"]}
                named.pop("__name__")
                found.setdefault(
                    frozenset(named.items()), _FUNCTIONS[asked["function"]](list(values))
                )
        return list(found.items())

    def _selected(
        self, asked: re.Match[str], at: float, span_s: float
    ) -> list[tuple[Labels, list[float]]]:
        wanted = {"__name__": asked["name"]}
        for one in re.findall(_MATCHER, asked["matchers"]):
            name, _, text = one.partition("=")
            wanted[name] = json.loads(text)
        return [
            (
                labels,
                [
                    value
                    for moment, value in sorted(series.items())
                    if at - span_s <= moment / 1000 <= at
                ],
            )
            for labels, series in self.kept.items()
            if all(dict(labels).get(name, "") == value for name, value in wanted.items())
        ]


def _fits(labels: Mapping[str, str], asked: re.Match[str]) -> bool:
    if labels["__name__"] != asked["name"]:
        return False
    for one in re.findall(_LOOSE, asked["matchers"] or ""):
        name, how, text = re.fullmatch(r"([a-z_]+)(!=|=~|=)(.+)", one, re.DOTALL).groups()  # type: ignore[union-attr]
        value, wanted = labels.get(name, ""), json.loads(text)
        good = re.fullmatch(wanted, value) is not None if how == "=~" else value == wanted
        if good == (how == "!="):
            return False
    return True


def _over(points: Sequence[tuple[float, float]], function: str) -> float | None:
    if not points:
        return None
    if function == "max_over_time":
        return max(value for _, value in points)
    if function != "rate":
        return points[-1][1]
    if len(points) < 2:
        return None
    grown = sum(
        value - before if value >= before else value
        for (_, before), (_, value) in itertools.pairwise(points)
    )
    return grown / (points[-1][0] - points[0][0])

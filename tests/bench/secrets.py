# ruff: noqa: A005 - in this package the name is that of the bench
"""Reads of a secret by many pods: ours beside the real `vault agent` and an honest twin in Go."""

import math
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from tests.bench.first_light_processes import Process
from tests.bench.frame import Aim, Result, aim
from tests.bench.secrets_profile import profiled
from tests.bench.secrets_servers import (
    Callers,
    Server,
    StandingNode,
    go_twin,
    ours,
    program,
    pss_mib,
    standing_node,
    vault_agent,
)

IDENTITIES = 250
AT_ONCE = (1, 16, 64)
KINDS = ("kept", "new")
READS = {1: 4, 16: 16, 64: 16}
"""Of each identity, by how many ask at once."""
ROUNDS = 5
PACED_ROUNDS = 3
VICTIM_READS = 400
VICTIM_WAITS_S = 0.025
STANDING_PODS, STANDING_SECRETS = 110, 5
STANDING_S = 180.0
"""Each path is looked at once a minute or more seldom."""
MEMORY_OF = (1, 10, 50, 110, 250)

Figures = dict[str, Any]


def bench() -> Result:
    go = program()
    measured: Figures = {}
    with tempfile.TemporaryDirectory(prefix="secrets-") as folder:
        with ExitStack() as stack:
            servers: dict[str, Server] = {}
            for name, start in (("ours", ours), ("vault agent", vault_agent), ("go twin", go_twin)):
                (there := Path(folder) / name.replace(" ", "-")).mkdir()
                servers[name] = start(stack, there, go, IDENTITIES)
            measured |= _measured(servers)
        (there := Path(folder) / "hostile").mkdir()
        with ExitStack() as stack:
            measured["hostile"] = _beside_a_flood(ours(stack, there, go, 2, per_s=50))
        (there := Path(folder) / "profile").mkdir()
        with ExitStack() as stack:
            measured["profile"] = _beside_a_profile(ours(stack, there, go, 2))
        (there := Path(folder) / "standing").mkdir()
        with ExitStack() as stack:
            node = standing_node(stack, there, go, pods=STANDING_PODS, secrets=STANDING_SECRETS)
            measured["standing"] = _standing(node)
    return Result(
        measured=measured,
        peers={
            "vault agent": "one for all identities, auto-auth by a token in a file, unix listener; "
            "behind it a Vault in dev mode, which it asks for each read of KV",
            "go twin": "net/http, SO_PEERCRED, the control group read for each request, a map",
        },
        aims=tuple(_aims(measured)),
    )


def _measured(servers: Mapping[str, Server]) -> Figures:
    """All three in turns, because a virtual machine is not equally fast all the time."""
    figures: Figures = {}
    for name, server in servers.items():
        figures[name] = {"pss_mib_idle": server.pss_mib()}
        if server.grow is not None:
            figures[name]["pss_mib_by_pods"] = {pods: server.grow(pods) for pods in MEMORY_OF}
        _round(server.callers, server.process, "kept", 16)  # so that all have read once
    for kind in KINDS:
        for at_once in AT_ONCE:
            rounds: dict[str, list[dict[str, float]]] = {name: [] for name in servers}
            for _ in range(ROUNDS):
                for name, server in servers.items():
                    rounds[name].append(_round(server.callers, server.process, kind, at_once))
            for name, of_one in rounds.items():
                figures[name][f"{kind}, {at_once} at once"] = {
                    key: round(statistics.median(each[key] for each in of_one), 3)
                    for key in of_one[0]
                }
    for name, server in servers.items():
        figures[name]["pss_mib_busy"] = server.pss_mib()
    return figures


def _round(callers: Callers, process: Process, kind: str, at_once: int) -> dict[str, float]:
    waiting: SimpleQueue[int] = SimpleQueue()
    for identity in range(len(callers)):
        waiting.put(identity)
    before, at = process.run_s(), time.perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        took = [ms for each in pool.map(lambda _: _drained(callers, waiting, kind, READS[at_once]),
                                        range(at_once)) for ms in each]  # fmt: skip
    wall, cpu = time.perf_counter() - at, process.run_s() - before
    return {
        "p50_ms": percentile(took, 50),
        "p99_ms": percentile(took, 99),
        "reads_per_s": len(took) / wall,
        "reads_per_cpu_s": len(took) / cpu,
        "cpu_ms": cpu * 1e3 / len(took),
    }


def _drained(callers: Callers, waiting: "SimpleQueue[int]", kind: str, reads: int) -> list[float]:
    took: list[float] = []
    while not waiting.empty():
        took += callers.ask(waiting.get(), kind, reads)
    return took


def _beside_a_flood(server: Server) -> Figures:
    """The p99 of one pod, alone and while another asks as fast as it can on all its connections."""
    assert server.grow is not None
    server.grow(2)
    alone = [_paced(server, "kept") for _ in range(PACED_ROUNDS)]
    with server.flood(1) as answers:
        beside = [_paced(server, "kept") for _ in range(PACED_ROUNDS)]
    return {
        "victim_alone": _percentiles(alone),
        "victim_beside": _percentiles(beside),
        "answers_to_the_flood": answers,
    }


def _standing(node: StandingNode) -> Figures:
    """What a node costs of which nobody asks anything."""
    cpu_s, requests, at = node.process.cpu_s(), node.vault_requests, time.perf_counter()
    time.sleep(STANDING_S)
    took_s = time.perf_counter() - at
    return {
        "milli_cpu": round((node.process.cpu_s() - cpu_s) / took_s * 1e3, 1),
        "vault_requests_per_minute": round((node.vault_requests - requests) / took_s * 60, 1),
        "pss_mib": pss_mib(node.process),
    }


def _paced(server: Server, kind: str) -> list[float]:
    """Reads of the victim, within its rate."""
    took: list[float] = []
    for _ in range(VICTIM_READS):
        took += server.callers.ask(0, kind, 1)
        time.sleep(VICTIM_WAITS_S)
    return took


def _beside_a_profile(server: Server) -> Figures:
    """Reads of one pod while `credentials` itself is profiled, and while it is not, in turns."""
    assert server.grow is not None
    server.grow(2)
    figures: Figures = {"samples": []}
    for kind in KINDS:
        rounds: dict[str, list[list[float]]] = {"alone": [], "beside": []}
        for _ in range(PACED_ROUNDS):
            rounds["alone"].append(_paced(server, kind))
            with profiled(server.process.popen.pid) as samples:
                rounds["beside"].append(_paced(server, kind))
            figures["samples"].append(sum(samples))
        figures[kind] = {name: _percentiles(of_one) for name, of_one in rounds.items()}
    return figures


def _percentiles(rounds: Sequence[list[float]]) -> dict[str, float]:
    return {
        f"p{percent}_ms": statistics.median(percentile(each, percent) for each in rounds)
        for percent in (50, 99)
    }


def percentile(values: Sequence[float], percent: float) -> float:
    """The nearest rank."""
    return round(sorted(values)[math.ceil(len(values) * percent / 100) - 1], 3)


def _aims(measured: Figures) -> Iterator[Aim]:
    mine, agent, twin = measured["ours"], measured["vault agent"], measured["go twin"]
    for kind, most in (("kept", 0.25), ("new", 0.5)):
        for at_once in AT_ONCE:
            case = f"{kind}, {at_once} at once"
            ratio = round(mine[case]["p50_ms"] / agent[case]["p50_ms"], 2)
            yield aim(f"p50 in vault agent's: {case}", ratio, "<=", most)
    for kind in KINDS:
        case = f"{kind}, 16 at once"
        for name, other, least in (("vault agent's", agent, 4.0), ("the Go twin's", twin, 0.5)):
            ratio = round(mine[case]["reads_per_cpu_s"] / other[case]["reads_per_cpu_s"], 2)
            yield aim(f"reads per CPU second in {name}: {case}", ratio, ">=", least)
    yield aim("ms of CPU of a reply: kept, 1 at once", mine["kept, 1 at once"]["cpu_ms"], "<=", 0.3)
    hostile = measured["hostile"]
    ratio = hostile["victim_beside"]["p99_ms"] / hostile["victim_alone"]["p99_ms"]
    yield aim("p99 of a pod beside a hostile one in its p99 alone", round(ratio, 2), "<=", 2.0)
    of_pods = mine["pss_mib_by_pods"][110]
    yield aim("MiB of PSS with 110 pods", of_pods, "<=", 80.0)
    agents = round(of_pods / (110 * agent["pss_mib_idle"]), 4)
    yield aim("PSS with 110 pods in that of 110 vault agents", agents, "<=", 0.1)
    standing = measured["standing"]
    of_node = f"{STANDING_PODS} pods with {STANDING_SECRETS} secrets"
    yield aim(f"m of CPU, {of_node}", standing["milli_cpu"], "<=", 10.0)
    yield aim(f"MiB of PSS, {of_node}", standing["pss_mib"], "<=", 80.0)
    for kind in KINDS:
        found = measured["profile"][kind]
        ratio = round(found["beside"]["p99_ms"] / found["alone"]["p99_ms"], 2)
        yield aim(f"p99 beside a profile in p99 without: {kind}", ratio, "<=", 2.0)

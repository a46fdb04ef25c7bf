"""Sizing of 100 000 containers, beside the Vertical Pod Autoscaler's own code on the same samples.

`make bench NAME=sizing`. In a process of its own, in CPU time: one tick of samples, all advice, the checkpoint as it is written and
read, and the memory that all of it takes. One peer, in seconds of the wall clock, is `tests/bench/vpa_go/targets`: VPA's histograms, peaks and
estimators without its client of Kubernetes, fed with the same samples; what it recommends must be what our `vpa`
strategy recommends, amount for amount. The other peer is VPA's whole recommender as a process, with a history from a
Prometheus, a sample from a metrics server, and a VerticalPodAutoscaler, a Deployment and a pod for each container: all three
servers are stand-ins that answer with nothing but that. What it writes must be the same amounts, too.
"""

import asyncio
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from nemutator_controller.sizing.all_advice import AT_ONCE
from nemutator_controller.sizing.documents import advice_list
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.packed_rows import pack_all, unpack
from nemutator_controller.sizing.samples import UsageSamples
from nemutator_controller.sizing.strategies.vpa_recommender import Side, VpaContainer, VpaSample
from nemutator_controller.sizing.usages import Usages

from tests.bench import vpa_recommender as whole
from tests.bench.frame import Result, aim
from tests.bench.vpa_api import NOTHING_ELSE, SmallApi, kubeconfig
from tests.bench.vpa_programs import VERSION, built
from tests.testbed.running.waiting import until

CONTAINERS = 100_000
TICKS = 10
NOW = 1_700_000_000.0
STEP_S = 60.0
COMPARED = 2_000
"""Containers whose amounts are compared; each has as many samples as there are ticks, and kills now and then."""
IN_PROCESS, NAMESPACES = 5_000, 50
"""Containers of the whole recommender, which compares each VerticalPodAutoscaler with each container."""
IN_PROCESS_S = 1_200
SEED = 17
SIDES: tuple[Side, ...] = ("target", "lower", "upper")
REPOSITORY = Path(__file__).parents[2]


def bench() -> Result:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.bench.sizing"],
        cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True, timeout=1_800,
    )  # fmt: skip
    ours = json.loads(ran.stdout.splitlines()[-1])
    peer = _built()
    vpa = _peer(peer, _lines(CONTAINERS, TICKS))[-1]
    different = _differences(peer)
    process, written_otherwise = asyncio.run(_process())
    return Result(
        measured={**ours, "containers": CONTAINERS, "amounts_compared": 6 * COMPARED},
        peers={f"VPA {VERSION}, its own code": vpa, f"VPA {VERSION}, its recommender": process},
        aims=(
            aim("all advice, s of CPU", ours["advice_cpu_s"], "<=", 1.0),
            aim("memory, MiB", ours["rss_mib"], "<=", 300),
            aim("amounts that differ from VPA's code", float(different), "<=", 0),
            aim("amounts that differ from its recommender's", float(written_otherwise), "<=", 0),
        ),
    )


def _built() -> Path:
    source = Path(__file__).parent / "vpa_go" / "targets" / "main.go"
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    return built("./targets", f"vpa-targets-{VERSION}-{digest}")


def _peer(program: Path, lines: list[str]) -> list[dict[str, Any]]:
    ran = subprocess.run(
        [program], input="\n".join(lines) + "\n", check=True, stdout=subprocess.PIPE, text=True,
        timeout=1_800,
    )  # fmt: skip
    return [json.loads(line) for line in ran.stdout.splitlines()]


async def _process() -> tuple[dict[str, Any], int]:
    """What VPA's recommender took for all, and how many amounts are not ours."""
    fed = _fed()
    objects = {
        **NOTHING_ELSE,
        "verticalpodautoscalers": (
            "autoscaling.k8s.io/v1",
            "VerticalPodAutoscaler",
            [_numbered(whole.autoscaler(one)) for one in fed],
        ),
        "verticalpodautoscalercheckpoints": (
            "autoscaling.k8s.io/v1", "VerticalPodAutoscalerCheckpoint", [],
        ),
        "deployments": ("apps/v1", "Deployment", [_numbered(whole.workload(one)) for one in fed]),
        "pods": (
            "v1",
            "Pod",
            [{**_numbered(whole.pod(one)), "status": {"phase": "Running"}} for one in fed],
        ),
        "events": ("v1", "Event", []),
    }  # fmt: skip
    api, sources = SmallApi(objects), whole.VpaSources(fed)
    with tempfile.TemporaryDirectory(prefix="vpa-") as text:
        folder = Path(text)
        async with api.serving(*sources.routes()) as port:
            url = f"http://127.0.0.1:{port}"
            (folder / "kubeconfig").write_text(json.dumps(kubeconfig(url)))
            began = time.monotonic()
            with whole.recommending(
                folder, kubeconfig=folder / "kubeconfig", sources=url, interval_s=1
            ) as recommender:
                await asyncio.to_thread(
                    until, recommender.has_made(1), "it has recommended", within_s=IN_PROCESS_S
                )
                figures = {
                    "containers": len(fed),
                    "samples": sum(len(one.samples) for one in fed),
                    "wall_s": round(time.monotonic() - began, 1),
                    "cpu_s": round(recommender.process.cpu_s(), 1),
                    "rss_mib": recommender.process.rss_anon_mib(),
                    "steps_s": recommender.steps_s(),
                }
    different = 0
    for one in fed:
        ours = VpaContainer()
        ours.take(one.samples)
        theirs = whole.amounts(api.statuses[one.name])
        for side in SIDES:
            found, wanted = ours.recommend(side), theirs[side]
            different += (found.cpu_millis != wanted.cpu_millis) + (
                found.memory_bytes != wanted.memory_bytes
            )
    return figures, different


def _fed() -> list[whole.Fed]:
    """Containers of a week, by the hour, by the minute, or just begun; the last sample is the metrics server's."""
    made, now = random.Random(SEED), int(time.time())
    found = []
    for number in range(IN_PROCESS):
        step, count = made.choice(((3_600, 180), (3_600, 40), (60, 100), (60, 2), (7_200, 0)))
        cores, used = 10 ** made.uniform(-3, 1), 10 ** made.uniform(6, 10.5)
        history = [
            VpaSample(
                float(now - 120 - step * ago),
                cores * made.lognormvariate(0, 0.7),
                used * made.lognormvariate(0, 0.3),
            )
            for ago in reversed(range(count))
        ]
        live = whole.live_sample(now - 60, made.randrange(10_000), made.randrange(1 << 34))
        found.append(whole.Fed(f"c{number}", f"team-{number % NAMESPACES}", history, live))
    return found


def _numbered(manifest: dict[str, Any]) -> dict[str, Any]:
    """As the API server would have made it."""
    named = manifest["metadata"]
    return {**manifest, "metadata": {**named, "uid": named["name"], "resourceVersion": "1"}}


def _differences(program: Path) -> int:
    random_ = random.Random(SEED)
    samples: dict[str, list[VpaSample]] = {}
    lines = []
    for number in range(COMPARED):
        at = NOW + random_.randrange(86_400)
        cores, used = 10 ** random_.uniform(-3, 1), 10 ** random_.uniform(6, 10.5)
        for _ in range(random_.choice((1, 5, 50, 200))):
            at += random_.choice((60, 61, 300, 3_600, 40_000))
            one = VpaSample(
                at,
                cores * random_.lognormvariate(0, 0.7),
                used * random_.lognormvariate(0, 0.3),
                random_.random() < 0.01,
            )
            samples.setdefault(f"c{number}", []).append(one)
            lines.append(f"c{number},{at!r},{one.cores!r},{one.memory_bytes!r},{one.is_killed:d}")
    different = 0
    for said in _peer(program, lines)[:-1]:
        ours = VpaContainer()
        ours.take(samples[said["container"]])
        for side in SIDES:
            found, wanted = ours.recommend(side), said[side]
            different += (found.cpu_millis != wanted["cpu"]) + (
                found.memory_bytes != wanted["memory"]
            )
    return different


def _lines(containers: int, ticks: int) -> list[str]:
    cores, used = _use(containers)
    return [
        f"c{number},{NOW + tick * STEP_S},{cores[number]},{used[number]},0"
        for tick in range(ticks)
        for number in range(containers)
    ]


def _use(containers: int) -> tuple[np.ndarray, np.ndarray]:
    made = np.random.default_rng(SEED)
    return 10 ** made.uniform(-3, 1, containers), 10 ** made.uniform(6.5, 10, containers)


class _NothingGrows:
    def of(self, key: ContainerKey) -> str | None:
        return None


def _measured() -> dict[str, float]:
    keys = [
        ContainerKey(f"team-{n % 500}", "Deployment", f"service-{n}", "app")
        for n in range(CONTAINERS)
    ]
    cores, used = _use(CONTAINERS)
    usages = Usages(most=CONTAINERS)
    took: list[float] = []
    for tick in range(TICKS):
        samples = _samples(keys, cores, used, NOW + tick * STEP_S)
        began = time.process_time()
        usages.learn(samples, now=NOW + tick * STEP_S)
        took.append(time.process_time() - began)
    now = NOW + TICKS * STEP_S
    began = time.process_time()
    given = 0
    ordered = usages.keys()
    for first in range(0, CONTAINERS, AT_ONCE):
        seen = usages.columns(ordered[first : first + AT_ONCE], now=now)
        given += len(advice_list(seen, {}, _NothingGrows(), now=now))
    advice_s = time.process_time() - began
    began = time.process_time()
    seen_s = 0.0
    for first in range(0, CONTAINERS, 5_000):
        usages.columns(ordered[first : first + 5_000], now=now)
    seen_s = time.process_time() - began
    rss = _rss_mib()
    write_s, read_s, size = _checkpoint(usages, ordered)
    assert given == CONTAINERS
    return {
        "tick_cpu_s": round(min(took), 3),
        "advice_cpu_s": round(advice_s, 2),
        "percentiles_cpu_s": round(seen_s, 2),
        "checkpoint_write_cpu_s": round(write_s, 2),
        "checkpoint_read_cpu_s": round(read_s, 2),
        "checkpoint_mb": round(size / 1e6, 1),
        "rss_mib": round(rss),
    }


def _checkpoint(usages: Usages, keys: list[ContainerKey]) -> tuple[float, float, int]:
    write_s = read_s = 0.0
    size = 0
    for first in range(0, len(keys), 1_000):
        began = time.process_time()
        kept = usages.kept(keys[first : first + 1_000])
        packed = pack_all([*kept.values()])
        write_s += time.process_time() - began
        size += sum(map(len, packed))
        began = time.process_time()
        for content, one in zip(packed, kept.values(), strict=True):
            unpack(
                content, points=one.points, first_at=one.first_at, last_at=one.last_at,
                step_s=one.step_s, heard_at=one.heard_at,
            )  # fmt: skip
        read_s += time.process_time() - began
    return write_s, read_s, size


def _samples(keys: list[ContainerKey], cores: Any, used: Any, to_at: float) -> UsageSamples:
    count = len(keys)
    return UsageSamples(
        keys=keys,
        of=np.arange(count, dtype=np.intp),
        from_at=np.full(count, to_at - STEP_S),
        to_at=np.full(count, to_at),
        cpu_cores=cores,
        memory_bytes=used,
        replicas=np.arange(1, count + 1, dtype=np.int64),
        throttled=np.full(count, np.nan),
        kills=np.full(count, np.nan),
        requested=np.zeros(count),
    )


def _rss_mib() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_measured()) + "\n")

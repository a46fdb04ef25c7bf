"""Sizing of 100 000 containers, beside the Vertical Pod Autoscaler's own code on the same samples.

`make bench NAME=sizing`. In a process of its own, in CPU time: one tick of samples, all advice, the checkpoint as it is written and
read, and the memory that all of it takes. The peer, in seconds of the wall clock, is `tests/bench/vpa_go/targets`: VPA's histograms, peaks and
estimators without its client of Kubernetes, fed with the same samples; what it recommends must be what our `vpa`
strategy recommends, amount for amount.
"""

import hashlib
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from nemutator_controller.sizing.all_advice import AT_ONCE
from nemutator_controller.sizing.documents import advice_list
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.packed_rows import pack, unpack
from nemutator_controller.sizing.samples import UsageSamples
from nemutator_controller.sizing.strategies.vpa_recommender import VpaContainer, VpaSample
from nemutator_controller.sizing.usages import Usages

from tests.bench.frame import Result, aim
from tests.bench.vpa_peer import VERSION

CONTAINERS = 100_000
TICKS = 10
NOW = 1_700_000_000.0
STEP_S = 60.0
COMPARED = 2_000
"""Containers whose amounts are compared; each has as many samples as there are ticks, and kills now and then."""
SEED = 17
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
    return Result(
        measured={**ours, "containers": CONTAINERS, "amounts_compared": 6 * COMPARED},
        peers={f"VPA {VERSION}, its own code": vpa},
        aims=(
            aim("all advice, s of CPU", ours["advice_cpu_s"], "<=", 1.0),
            aim("memory, MiB", ours["rss_mib"], "<=", 300),
            aim("amounts that differ from VPA's", float(different), "<=", 0),
        ),
    )


def _built() -> Path:
    source = Path(__file__).parent / "vpa_go" / "targets" / "main.go"
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    target = REPOSITORY / ".build" / f"vpa-targets-{VERSION}-{digest}"
    if not target.exists():
        own = REPOSITORY / ".build/go/go/bin/go"
        go = next((path for path in (Path("/usr/local/go/bin/go"), own) if path.exists()), "go")
        subprocess.run(
            [go, "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-o", target, "./targets"],
            cwd=source.parents[1], check=True, timeout=1_800,
            env={**os.environ, "GOFLAGS": "", "GOWORK": "off", "GOTOOLCHAIN": "local"},
        )  # fmt: skip
    return target


def _peer(program: Path, lines: list[str]) -> list[dict[str, Any]]:
    ran = subprocess.run(
        [program], input="\n".join(lines) + "\n", check=True, stdout=subprocess.PIPE, text=True,
        timeout=1_800,
    )  # fmt: skip
    return [json.loads(line) for line in ran.stdout.splitlines()]


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
        for side in ("target", "lower", "upper"):
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
        packed = [pack(one) for one in kept.values()]
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

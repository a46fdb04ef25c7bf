"""What an answer of admission costs: CPU of the decision, of the whole process, and memory.

The decision is timed here, in the CPU time of one thread, as the best of many short rounds: others on the
machine make the rest of them slower. The process is the real one, asked over TLS, beside a Go twin.
"""

import asyncio
import base64
import gc
import itertools
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from nemutator_common.admission_snapshots import TokenSnapshot
from nemutator_common.launching import YOUNG_OBJECTS
from nemutator_common.real_process import real_process
from nemutator_common.serving.plain_posts import PlainPost
from nemutator_common.settings import Shared
from nemutator_controller.admission.endpoint import PATH, Webhook
from nemutator_controller.admission.outcomes import Rules
from nemutator_controller.admission.snapshot_slices import token_slices
from nemutator_controller.admission.spool import Spool
from nemutator_controller.admission.webhook_handler import WebhookHandler
from nemutator_controller.mutations.injection import Injector
from nemutator_controller.policies.snapshot import snapshot_of

from tests.bench import first_light_reviews as reviews
from tests.bench import vpa_peer, vpa_programs
from tests.bench.admission_on_all_cpus import on_all_cpus
from tests.bench.api_server_asking import ASKED_ABOUT, LIVE, waits_for_admission
from tests.bench.api_server_peers import floor_of
from tests.bench.first_light import built
from tests.bench.first_light_admission import (
    NEXT,
    ODD,
    PATCHED,
    RATE,
    SOON_S,
    UNLIKE,
    VARIED,
    admission,
)
from tests.bench.first_light_processes import EndedError
from tests.bench.frame import Aim, Result, aim
from tests.fakes.admission import MemoryWorld
from tests.processes import own_memory
from tests.testbed.building.cache import MissingPartError
from tests.testbed.parts.control_plane import KubectlError
from tests.testbed.running.waiting import NotInTimeError

POLICIES = 50
MANY_POLICIES, TOKENS = 500, 100_000
ROUNDS, ANSWERS = 60, 50

ALL_VARIED = VARIED | {vpa_peer.CASE: (reviews.SIZED, reviews.RANDOM)}

Figures = dict[str, Any]


def bench() -> Result:
    decision_us = asyncio.run(_decisions())
    program = built()
    process, peer = admission(program, _policies(POLICIES), ALL_VARIED)
    vpa, not_built = _vpa(program)
    floor = floor_of(
        program, {case: _patch(ALL_VARIED[case][0]) for case in (PATCHED, vpa_peer.CASE)}
    )
    several, several_peers = on_all_cpus(program, _policies(POLICIES))
    waits, peers_waits, why_not = _waits(program)
    measured = {
        "policies": POLICIES,
        "decision_us": decision_us,
        "process": process,
        "floor": floor,
        "on_all_cpus": several,
        "memory": _in_a_process_of_its_own(),
        "api_server_waits": waits,
    }
    twin = "labels: Go net/http + encoding/json, one core, with a record in a file"
    theirs = f"VPA's admission controller {vpa_programs.VERSION}, without a record"
    ratios = {
        twin: _in_theirs(process["labels"], peer),
        theirs: _in_theirs(process[vpa_peer.CASE], vpa) if vpa else {},
    }
    if vpa:
        rate = floor[vpa_peer.CASE]["answers_per_s"] / vpa["answers_per_s"]
        ratios[theirs]["rate_without_a_decision_in_its"] = round(rate, 2)
    return Result(
        measured=measured,
        peers={
            twin: peer | ratios[twin],
            theirs: (vpa or {"why_not": not_built}) | ratios[theirs],
            "on all CPUs, answers/s": several_peers,
            **{f"a real API server waits for {what}": each for what, each in peers_waits.items()},
        },
        aims=(
            *_aims(measured, ratios[twin], ratios[theirs], not_built),
            *_waiting_aims(waits, why_not),
        ),
    )


def _vpa(program: Path) -> tuple[Figures, str]:
    """What was measured of it, or why it was not: the rest holds without it."""
    try:
        return vpa_peer.vpa(program), ""
    except (OSError, subprocess.SubprocessError, EndedError, NotInTimeError) as failed:
        return {}, f"it could not be built or run: {failed}"


def _waits(program: Path) -> tuple[Figures, Figures, str]:
    """How long a real API server waits for ours and for peers, or why nobody knows."""
    try:
        patch = _patch(reviews.OPTED_IN)
        return *waits_for_admission(_policies(POLICIES), program, patch), ""
    except (OSError, MissingPartError, EndedError, NotInTimeError, KubectlError) as failed:
        return {}, {}, f"there was no API server of the testbed: {failed}"


def _in_theirs(ours: Figures, theirs: Figures) -> Figures:
    return {
        "our_rate_in_its": round(ours["answers_per_s"] / theirs["answers_per_s"], 2),
        "its_cpu_in_ours": round(theirs["cpu_ms"] / ours["cpu_ms"], 2),
    }


async def _decisions() -> Figures:
    """µs of CPU from the bytes of a review to those of its answer, its record written."""
    with _webhook() as webhook:
        gc.collect()
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
        return {case: _best(webhook, *varied) for case, varied in ALL_VARIED.items()}


def _patch(namespace: str) -> bytes:
    """That of a pod in *namespace*."""
    return asyncio.run(_patch_of(namespace))


async def _patch_of(namespace: str) -> bytes:
    with _webhook() as webhook:
        post = PlainPost(PATH, reviews.body(namespace), "127.0.0.1", None)
        answer = webhook.at_once(post)
        assert answer is not None
        return base64.b64decode(json.loads(answer.body)["response"]["patch"])


@contextmanager
def _webhook() -> Iterator[Webhook]:
    """Ours, in this process."""
    with tempfile.TemporaryDirectory(prefix="admission-bench-") as folder:
        process = real_process(Shared(data_dir=Path(folder)))
        spool = Spool(Path(folder) / "spool", most_bytes=1 << 33, process=process)
        world = MemoryWorld(**_policies(POLICIES))
        world.namespaces = dict(reviews.NAMESPACES)
        rules = Rules(own_namespace="nemutator", injector=Injector("agent:1"), strict=False)
        handler = WebhookHandler(world, spool, rules, lambda: secrets.token_hex(8), process)
        yield Webhook(handler, process)
        spool.close()


def _best(webhook: Webhook, namespace: str, varied: str) -> float:
    body = reviews.body(namespace)
    numbers = itertools.count()
    best = float("inf")
    for _ in range(ROUNDS):
        bodies = [
            body.replace(varied.encode(), b"%0*d" % (len(varied), next(numbers)))
            for _ in range(ANSWERS)
        ]
        began = time.thread_time()
        for each in bodies:
            answer = webhook.at_once(PlainPost(PATH, each, "127.0.0.1", None))
            assert answer is not None
            answer.record()
        best = min(best, time.thread_time() - began)
    return round(best / ANSWERS * 1e6, 1)


def _policies(count: int) -> Mapping[str, Any]:
    """Those of the reviews, among as many others as a platform has: most for some other namespaces."""
    others = {
        f"z-{number:03}": {
            "match": {"namespaces": [f"team-{number}-*"]}
            if number % 10
            else {"podSelector": {"matchLabels": {"app": f"app-{number}"}}},
            "mode": "Apply",
            "mutations": [{"labels": {"add": {"team": f"team-{number}"}}}],
        }
        for number in range(count - len(reviews.POLICIES) - 1)
    }
    return {**reviews.POLICIES, "as-vpa": vpa_peer.POLICY, **others}


def _in_a_process_of_its_own() -> Figures:
    code = "from tests.bench import admission; admission.print_memory()"
    ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    figures: Figures = json.loads(ended.stdout)
    return figures


def print_memory() -> None:
    """What many policies and tokens take, and for how long decoding the tokens holds others up."""
    empty = own_memory(os.getpid())
    policies = snapshot_of(_policies(MANY_POLICIES))
    with_policies = own_memory(os.getpid())
    tokens = {f"nemu_label_value_{number:032x}": f"value-{number}" for number in range(TOKENS)}
    document = msgspec.json.encode(TokenSnapshot("redis", read=True, tokens=tokens))
    del tokens
    gc.collect()
    without_tokens = own_memory(os.getpid())
    slices, longest_s, known = token_slices(document), 0.0, None
    began = time.thread_time()
    while known is None:
        slice_began = time.thread_time()
        try:
            next(slices)
        except StopIteration as made:
            known = made.value
        longest_s = max(longest_s, time.thread_time() - slice_began)
    decoding_ms = (time.thread_time() - began) * 1e3
    with_tokens = own_memory(os.getpid())
    assert (len(policies.sound), len(known.values)) == (MANY_POLICIES, TOKENS)
    figures = {
        f"mib_of_{MANY_POLICIES}_policies": round((with_policies - empty) / (1 << 20), 1),
        f"mib_of_{TOKENS}_tokens": round((with_tokens - without_tokens) / (1 << 20), 1),
        "ms_to_decode_tokens": round(decoding_ms, 1),
        "ms_of_the_longest_slice_of_it": round(longest_s * 1e3, 1),
    }
    print(json.dumps(figures))


def _aims(measured: Figures, twin: Figures, vpa: Figures, not_built: str) -> Iterator[Aim]:
    changed, untouched = PATCHED, "untouched"
    process, decision_us = measured["process"], measured["decision_us"]
    for case in (changed, NEXT, UNLIKE, ODD):
        what = f"ms of CPU to change a pod of 4 KB by three {case}, above an untouched one"
        above = round(process[case]["cpu_ms"] - process[untouched]["cpu_ms"], 3)
        yield aim(f"{what}: the process", above, "<=", 0.3)
        alone = round((decision_us[case] - decision_us[untouched]) / 1e3, 3)
        yield aim(f"{what}: the decision alone", alone, "<=", 0.3)
    yield aim(
        f"share of answers at {RATE}/s with {POLICIES} policies that took the process {SOON_S * 1e3:g} ms or less",
        process[changed][f"share_within_{SOON_S * 1e3:g}_ms_by_the_server_at_{RATE}_per_s"],
        ">=", 0.99,
    )  # fmt: skip
    p99 = process[changed][f"p99_ms_at_{RATE}_per_s"]
    yield aim(
        f"ms at p99 at {RATE} answers/s with {POLICIES} policies, as the caller saw it",
        p99, "<=", 2.0,
    )  # fmt: skip
    rate = "our_rate_in_its"
    yield aim("answers/s in those of a Go twin at the same edits", twin[rate], ">=", 1.0)
    yield aim(
        f"answers/s in those of VPA's admission controller {vpa_programs.VERSION} at the same edits",
        vpa.get(rate), ">=", 4.0, reason=not_built,
    )  # fmt: skip


def _waiting_aims(waits: Figures, why_not: str) -> Iterator[Aim]:
    for case in ASKED_ABOUT:
        what = f"ms at p50 that a real API server waits for admission: {case}"
        yield aim(what, waits.get(case, {}).get("p50_ms"), "<=", 2.0, reason=why_not)
    what = "ms until a policy that was changed at a real API server is followed, the longest of all"
    yield aim(what, waits.get(LIVE, {}).get("most_ms"), "<=", 1000, reason=why_not)

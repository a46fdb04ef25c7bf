"""The real admission process on one core, asked by a Go program on the other; and a Go twin of it."""

import asyncio
import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
from nemutator_common import names
from nemutator_controller.policies.crds import definition
from nemutator_controller.policies.model import API_VERSION, KIND

from tests.bench import first_light_reviews as reviews
from tests.bench.first_light_processes import Process, running, started
from tests.e2e.talking import counted
from tests.fakes.kube.certificates import AuthorityFiles
from tests.fakes.kube.server import FakeKube
from tests.testbed.running.ports import free_port
from tests.testbed.running.waiting import until

ASKING_CPU, ANSWERING_CPU = 0, 1
SECONDS = 2.5
RATE, RATE_SECONDS = 200, 5.0
SOON_S = 0.002
"""What 99 of 100 answers are to take at most, from a request's head to the last byte of its response."""
PATCHED = "policies and injection"
CASES = {"untouched": reviews.UNTOUCHED, "labels": reviews.PLAIN, PATCHED: reviews.OPTED_IN}

NEXT = "policies and injection, a first pod of its revision"
"""The same as the last case, where each pod is of another revision of its workload."""

UNLIKE = "policies and injection, a first pod of its workload"
"""The same where each pod is of another workload, with another name and image of a container."""

ODD = "policies and injection, a pod that asks for what none has asked for"
"""The same with another amount in each pod: no plan can be used again."""

VARIED = {case: (namespace, reviews.RANDOM) for case, namespace in CASES.items()} | {
    NEXT: (reviews.OPTED_IN, reviews.REVISION),
    UNLIKE: (reviews.OPTED_IN, reviews.CONTAINER),
    ODD: (reviews.ODD, reviews.CONTAINER),
}
"""By case, where the pods are, and what differs between them."""

Figures = dict[str, Any]


def admission(
    program: Path,
    policies: Mapping[str, Any] = reviews.POLICIES,
    cases: Mapping[str, tuple[str, str]] = VARIED,
) -> tuple[Figures, Figures]:
    """Ours, and the peer's, which sets the labels that a policy sets, and keeps a record as ours does."""
    with tempfile.TemporaryDirectory(prefix="first-light-") as folder:
        return asyncio.run(_both(program, Path(folder), policies, cases))


def written_files(folder: Path, namespaces: Iterable[str]) -> None:
    """The questions about pods in *namespaces*, and a certificate for loopback with its authority."""
    AuthorityFiles(folder).server_context()
    for namespace in namespaces:
        (folder / f"{namespace}.json").write_bytes(reviews.body(namespace))


async def _both(
    program: Path, folder: Path, policies: Mapping[str, Any], cases: Mapping[str, tuple[str, str]]
) -> tuple[Figures, Figures]:
    written_files(folder, (namespace for namespace, _ in cases.values()))
    async with FakeKube() as kube:
        await fill(kube, policies)
        with ExitStack() as stack:
            address, process = admission_started(
                stack, folder, kube.token, kube.authority.pem, kube.port
            )
            await asyncio.to_thread(process.wait_ready, folder / "data" / f"{names.ADMISSION}.sock")
            ours: Figures = {"idle_mib": process.rss_anon_mib()}
            for case, (namespace, varied) in cases.items():
                url = f"https://{address}/mutate"
                socket = folder / "data" / f"{names.ADMISSION}.sock"
                ours[case] = await asked(program, folder, url, namespace, varied, socket)
                ours[case] |= await _thinking(process, folder, program, url, namespace, varied)
            ours["busy_mib"] = process.rss_anon_mib()
    with twin_started(program, folder) as (url, peer):
        question = program, folder, url, *cases["labels"]
        theirs = await asked(*question)
        theirs["cpu_ms"] = await cpu_per_answer(peer, *question)
        theirs["busy_mib"] = peer.rss_anon_mib()
    return ours, theirs


@contextmanager
def twin_started(
    program: Path, folder: Path, *, cpu: int | None = ANSWERING_CPU, threads: int = 1
) -> Iterator[tuple[str, Process]]:
    """URL and process of the peer."""
    argv = [
        str(program), "serve", f"-certificate={folder / 'server.crt'}",
        f"-key={folder / 'server.key'}", f"-labels={json.dumps(reviews.LABELS)}",
        f"-records={folder / 'records'}",
    ]  # fmt: skip
    environment = {"GOMAXPROCS": str(threads)}
    with running("peer", argv, folder, cpu=cpu, environment=environment) as peer:
        until(lambda: b"\n" in peer.log.read_bytes(), "it listens", within_s=20)
        yield f"https://{peer.log.read_text().split()[0]}/", peer


def admission_started(
    stack: ExitStack, folder: Path, token: str, authority: bytes, port: int,
    *arguments: str, own: str = "data", address: str = "", cpu: int | None = ANSWERING_CPU,
) -> tuple[str, Process]:  # fmt: skip
    """Address and process, as a client of the API server at *port*; it may not be ready yet. *own*: the name of its data
    directory."""
    account = folder / "account"
    account.mkdir(exist_ok=True)
    (account / "token").write_text(token)
    (account / "ca.crt").write_bytes(authority)
    address = address or f"127.0.0.1:{free_port()}"
    process = stack.enter_context(
        started(
            "admission", folder, *arguments,
            f"--data-dir={folder / own}", f"--address={address}",
            f"--tls-certificate={folder / 'server.crt'}", f"--tls-key={folder / 'server.key'}",
            f"--service-account={account}", "--init-image=registry.example/nemutator-agent:1",
            # Nobody fetches the records here, and all of them must fit.
            f"--spool-bytes={1 << 33}",
            cpu=cpu,
            environment={
                "KUBERNETES_SERVICE_HOST": "127.0.0.1",
                "KUBERNETES_SERVICE_PORT_HTTPS": str(port),
            },
        )
    )  # fmt: skip
    return address, process


async def fill(kube: FakeKube, policies: Mapping[str, Any]) -> None:
    headers = {"Authorization": f"Bearer {kube.token}"}
    manifests = [
        {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": name}, "spec": spec}
        for name, spec in policies.items()
    ]
    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        for name, labels in reviews.NAMESPACES.items()
    ]
    at = f"/apis/{API_VERSION}/mutationpolicies"
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    async with aiohttp.ClientSession(kube.url, headers=headers) as session:
        for path, objects in (
            (definitions, [definition()]),
            (at, manifests),
            ("/api/v1/namespaces", namespaces),
        ):
            for manifest in objects:
                async with session.post(path, json=manifest, ssl=False) as answer:
                    assert answer.status == 201, await answer.text()


async def asked(
    program: Path, folder: Path, url: str, namespace: str, varied: str, socket: Path | None = None
) -> Figures:
    """As fast as possible, then at the rate at which the 99th percentile is wanted.

    *socket*: of our own process, whose metric says how long it took itself, without the caller's part.
    """
    fast = await ask(program, folder, url, namespace, varied, "-connections=8")
    before = _answered(socket)
    steady = await ask(
        program, folder, url, namespace, varied, f"-rate={RATE}", seconds=RATE_SECONDS
    )
    after = _answered(socket)
    assert fast["failed"] == steady["failed"] == 0, (fast, steady)
    assert bool(fast["patched"]) == (namespace != reviews.UNTOUCHED), fast
    return {
        "answers_per_s": round(fast["answers"] / fast["seconds"]),
        f"p50_ms_at_{RATE}_per_s": round(steady["p50_ms"], 2),
        f"p99_ms_at_{RATE}_per_s": round(steady["p99_ms"], 2),
    } | (_within(before, after) if socket is not None else {})


def _answered(socket: Path | None) -> tuple[float, float]:
    """Requests that were answered within `SOON_S`, and all."""
    if socket is None:
        return 0.0, 0.0
    metric = names.HTTP_REQUEST_SECONDS.name
    soon = counted(socket, f"{metric}_bucket", listener="webhook", le=str(SOON_S))
    return soon, counted(socket, f"{metric}_count", listener="webhook")


def _within(before: tuple[float, float], after: tuple[float, float]) -> Figures:
    soon, everything = after[0] - before[0], after[1] - before[1]
    share = round(soon / everything, 4)
    return {f"share_within_{SOON_S * 1e3:g}_ms_by_the_server_at_{RATE}_per_s": share}


async def _thinking(
    process: Process, folder: Path, program: Path, url: str, namespace: str, varied: str
) -> Figures:
    """CPU time of the process for an answer, and how long its decision takes, by its own metric."""
    socket = folder / "data" / f"{names.ADMISSION}.sock"
    metric = names.ADMISSION_SECONDS.name
    before = counted(socket, f"{metric}_sum"), counted(socket, f"{metric}_count")
    cpu_ms = await cpu_per_answer(process, program, folder, url, namespace, varied)
    after = counted(socket, f"{metric}_sum"), counted(socket, f"{metric}_count")
    decision_ms = round((after[0] - before[0]) / (after[1] - before[1]) * 1e3, 3)
    return {"cpu_ms": cpu_ms, "decision_ms": decision_ms}


async def cpu_per_answer(
    process: Process, program: Path, folder: Path, url: str, namespace: str, varied: str
) -> float:
    """CPU time of *process* for an answer, in milliseconds, asked over one connection."""
    before = process.cpu_s()
    one = await ask(program, folder, url, namespace, varied, "-connections=1")
    used: float = process.cpu_s() - before
    answers: int = one["answers"]
    return round(used / answers * 1e3, 3)


async def ask(
    program: Path, folder: Path, url: str, namespace: str, varied: str, *flags: str,
    seconds: float = SECONDS, cpu: int | None = ASKING_CPU,
) -> Figures:  # fmt: skip
    pinned = () if cpu is None else ("taskset", "-c", str(cpu))
    argv: Sequence[str] = (
        *pinned, str(program), "ask", f"-url={url}",
        f"-ca={folder / 'ca.crt'}", f"-question={folder / f'{namespace}.json'}",
        f"-vary={varied}", f"-seconds={seconds}", *flags,
    )  # fmt: skip
    # In a thread: the API server that admission watches is in this process.
    ended = await asyncio.to_thread(
        subprocess.run, argv, check=True, capture_output=True, timeout=seconds + 30
    )
    figures: Figures = json.loads(ended.stdout)
    return figures

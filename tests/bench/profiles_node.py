"""What profiles cost a node: a worker that has many large programs open, and windows of many pods."""

import contextlib
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.inspection.identities import FileId
from nemutator_agent.profiler.symbols.asking import ask
from nemutator_agent.profiler.symbols.messages import MOST_ADDRESSES, SymbolQuestion

from tests.e2e import go_frames
from tests.e2e.window_node import Node
from tests.processes import children
from tests.testbed.building import made

ROOT = Path(__file__).parents[2]
QUIET = ROOT / "tests" / "golden" / "go" / "heap" / "main.go"
BINARIES, PODS, BUSY = 20, 50, 5
MIB = 1 << 20

WINDOW_S, EVERY_S = 30.0, 600.0
"""As a cluster has them by default."""
ROUND_S = 60.0
"""Within so much each heap is due once."""


async def worker_memory_mib() -> Mapping[str, float]:
    """A worker that is asked about so many files, each as large as all of Kubernetes in one program."""
    worker, file = symbol_worker(), os.open(made.kube(), os.O_RDONLY)
    size = os.fstat(file).st_size
    try:
        about = SymbolQuestion(False, id=FileId(0, 0, size, 0))
        text = (await ask(worker, about, file)).text
        assert text is not None
        places = tuple(range(*text, (text[1] - text[0]) // MOST_ADDRESSES + 1))
        begun = time.monotonic()
        for inode in range(1, BINARIES + 1):
            question = SymbolQuestion(False, places, places, id=FileId(0, inode, size, 0))
            answer = await ask(worker, question, file)
            assert sum(one is not None for one in answer.places) > len(places) * 0.9
        seconds = time.monotonic() - begun
        (pid,) = children(os.getpid())
        memory = _most_memory_mib(pid)
    finally:
        os.close(file)
        worker.stop()
    return {
        "file_mib": round(size / MIB, 1),
        "addresses": len(places) * BINARIES,
        "seconds": round(seconds, 2),
        "worker_mib": memory,
    }


def _most_memory_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return round(int(line.split()[1]) / 1024, 1)
    raise AssertionError("the worker has ended")


async def cost_of_windows() -> Mapping[str, float]:
    """One heap reading of each of so many services, and one window of all: CPU time of the agent and
    its workers. The first look at a program takes more than the others."""
    with _services(PODS) as pids:
        node = Node(*pids)
        first = await _round(node, len(pids))
        later = await _round(node, len(pids))
    total = later["heap_cpu_s"] + later["window_cpu_s"]
    return {
        "first_heap_cpu_s": first["heap_cpu_s"],
        "first_window_cpu_s": first["window_cpu_s"],
        **later,
        "percent": round(100 * total / EVERY_S, 2),
        "agent_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }


async def _round(node: Node, pods: int) -> dict[str, float]:
    node.sink.records.clear()
    before = node.costs.cpu_s()

    def heaps() -> list[int]:
        """The processes of all heap readings."""
        return [one.process.pid for one in node.sink.readings if one.heap]

    await node.until(
        lambda: len(set(heaps())) == pods,
        node.heap_readings(every_s=ROUND_S).run(),
        within_s=EVERY_S,
    )
    # Some were read more than once until the last one was.
    heap_s = (node.costs.cpu_s() - before) * pods / len(heaps())
    before = node.costs.cpu_s()
    await node.until(
        lambda: [one for one in node.sink.readings if one.cpu],
        node.cpu_readings(seconds=WINDOW_S, every_s=1.0).run(),
        within_s=EVERY_S,
    )
    return {
        "heap_cpu_s": round(heap_s, 2),
        "window_cpu_s": round(node.costs.cpu_s() - before, 2),
    }


@contextlib.contextmanager
def _services(count: int) -> Iterator[list[int]]:
    """So many: a few have work, and most wait for some, as on a node."""
    go = shutil.which("go")
    assert go is not None, "there is no Go to build services with"
    command = [str(ROOT / "scripts" / "sample"), "--path"]
    path = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    with contextlib.ExitStack() as stack:
        quiet = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "quiet"
        go_frames.build(go, "stripped", quiet, source=QUIET)
        busy = [(ROOT / path.strip(), "--lifeline")] * BUSY
        waiting = [(quiet, "usual")] * (count - BUSY)
        yield [stack.enter_context(_service(*one)) for one in (*busy, *waiting)]


@contextlib.contextmanager
def _service(program: Path, word: str) -> Iterator[int]:
    with subprocess.Popen(
        [program, word], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        try:
            yield process.pid
        finally:
            process.kill()

"""All four jobs thin: reads of a secret beside a profile, admission, the profile itself, memory.

Real processes on this machine, standalone. What they cost in a cluster of some size is for the
benches of the issues that go deep.
"""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
from nemutator_common.data_directory_files import prepare, read_link_token, renew_link_token

from tests.bench.first_light_admission import admission
from tests.bench.first_light_processes import EndedError, Process, bpf_accounting, running, started
from tests.bench.first_light_reads import PER_S, read_often
from tests.bench.frame import Aim, Result, aim
from tests.e2e.talking import connected
from tests.testbed.running.waiting import until

REPOSITORY = Path(__file__).parents[2]
IDLE_S = 20.0
READING_S = 20.0
PROFILE_S = 24
HZ = 99
CALLS_OF_KUBELET = 2_000

Figures = dict[str, Any]


def bench() -> Result:
    program = built()
    with tempfile.TemporaryDirectory(prefix="first-light-") as folder, ExitStack() as stack:
        machine = Machine(Path(folder), stack)
        measured = machine.measured()
    ours, peer = admission(program)
    measured["memory_mib"]["admission"] = {
        "idle": ours.pop("idle_mib"),
        "busy": ours.pop("busy_mib"),
    }
    measured["admission"] = ours
    ratio = round(ours["labels"]["answers_per_s"] / peer["answers_per_s"], 2)
    return Result(
        measured=measured,
        peers={
            "admission, labels: Go net/http + encoding/json, one core": peer
            | {"our_rate_in_its": ratio},
            "profile": "none: this machine has no perf",
        },
        aims=tuple(_aims(measured)),
    )


class Machine:
    """The processes of `nemutator up`, and mount, each started by itself."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.stack = stack
        self.data = prepare(folder / "data")
        renew_link_token(self.data)
        self.running: dict[str, Process] = {}
        self.mount_failed = ""

    def measured(self) -> Figures:
        self._start()
        before, at = self._cpu(), time.monotonic()
        time.sleep(IDLE_S)
        idle_cpu = {
            name: round((cpu - before[name]) / (time.monotonic() - at) * 100, 2)
            for name, cpu in self._cpu().items()
        }
        idle = self._memory()
        with self._sample() as pid:
            alone, beside = self._reads(), self._reads_beside_a_profile(pid)
            profile, session_mib = self._profile(pid, idle_cpu["observe"])
        self._kubelet_calls()
        busy = self._memory() | {"observe": session_mib}
        return {
            "read": {"per_s": PER_S, "alone": alone, "beside_a_profile": beside},
            "profile": profile,
            "memory_mib": {name: {"idle": idle[name], "busy": busy[name]} for name in idle},
            "idle_cpu_percent_of_one": idle_cpu,
            "mount_failed": self.mount_failed,
        }

    def _start(self) -> None:
        data = f"--data-dir={self.data.root}"
        self._started("brain", data, "--console=127.0.0.1:0")
        self._started("credentials", data, "--requests-per-s=10000")
        self._started("observe", data)
        for name, process in self.running.items():
            process.wait_ready(self.data.socket(name))
        self._start_mount()
        subprocess.run(
            [sys.executable, "-m", "nemutator_ctl", "secret", "set", "db", data,
             f"--rule=uid={os.getuid()}"],
            input=b"correct horse battery staple", check=True, capture_output=True,
        )  # fmt: skip

    def _start_mount(self) -> None:
        """On a kubelet's directory without a kubelet: it comes up, and waits to be called."""
        root = self.folder / "kubelet"
        (root / "plugins_registry").mkdir(parents=True)
        self.driver = root / "plugins" / "agent.nemutator.io" / "csi.sock"
        try:
            self._started(
                "mount", f"--kubelet-root={root}", f"--data-dir={self.folder / 'mount'}",
                f"--credentials={self.data.socket('credentials')}",
            )  # fmt: skip
            self.running["mount"].wait_until_there(self.driver)
        except EndedError as error:
            self.mount_failed = str(error)
            del self.running["mount"]

    def _started(self, role: str, *arguments: str) -> None:
        process = self.stack.enter_context(started(role, self.folder, *arguments))
        self.running[role] = process

    def _cpu(self) -> dict[str, float]:
        return {name: process.cpu_s() for name, process in self.running.items()}

    def _memory(self) -> dict[str, float]:
        return {
            name: round(process.rss_anon_mib() + process.memlock_mib(), 1)
            for name, process in self.running.items()
        }

    @contextmanager
    def _sample(self) -> Iterator[int]:
        script = REPOSITORY / "scripts" / "sample"
        built = subprocess.run([script, "--path"], check=True, capture_output=True, cwd=REPOSITORY)
        path = REPOSITORY / built.stdout.decode().strip()
        with running("sample", [str(path), "--lifeline"], self.folder) as process:
            yield process.popen.pid

    def _reads(self) -> Figures:
        # Not all of a data directory is its owner's alone; its sockets are.
        socket = self.data.root / "agent.sock"
        kept, anew = (
            read_often(socket, "db", seconds=READING_S / 2, reconnect=reconnect)
            for reconnect in (False, True)
        )
        return {"same_connection": kept, "new_connection_each": anew}

    def _reads_beside_a_profile(self, pid: int) -> Figures:
        with ThreadPoolExecutor(1) as pool:
            profile = pool.submit(self._finished_profile, pid)
            until(lambda: self.running["observe"].bpf().memlock, "it has begun", within_s=20)
            figures = self._reads()
            assert not profile.done(), "the profile was over before the reads were"
            profile.result(timeout=60)
        return figures

    def _profile(self, pid: int, idle_percent: float) -> tuple[Figures, float]:
        """A session by itself, and the most memory in it."""
        observe = self.running["observe"]
        most = 0.0
        with bpf_accounting() as accounted, ThreadPoolExecutor(1) as pool:
            cpu, at = observe.cpu_s(), time.monotonic()
            profile = pool.submit(self._finished_profile, pid)
            held = observe.bpf()
            while not profile.done():
                now = observe.bpf()
                held = now if now.run_count > held.run_count else held
                most = max(most, observe.rss_anon_mib() + now.memlock / (1 << 20))
                time.sleep(0.25)
            done = profile.result()
            spent = observe.cpu_s() - cpu - idle_percent / 100 * (time.monotonic() - at)
        lost = sum(done.get("lost", {}).values())
        figures = {
            "seconds": round(done["seconds"], 2),
            "hz": done["hz"],
            "recorded": done["recorded"],
            "lost": lost,
            "cpu_seconds_by_the_kernel": round(done["cpu_seconds"], 2),
            "recorded_in_account": round(
                (done["recorded"] + lost) / done["hz"] / done["cpu_seconds"], 3
            ),
            "observe_cpu_ms_per_sample": round(spent / done["recorded"] * 1e3, 3),
            "observe_cpu_percent_of_one": round(spent / done["seconds"] * 100, 2),
            "bpf_runs": held.run_count,
            "bpf_us_per_run": None,
        }
        if accounted and held.run_count:
            figures["bpf_us_per_run"] = round(held.run_time_ns / held.run_count / 1e3, 2)
            figures["bpf_us_per_sample"] = round(held.run_time_ns / done["recorded"] / 1e3, 2)
        return figures, round(most, 1)

    def _finished_profile(self, pid: int) -> Figures:
        wanted = {"target": {"kind": "pid", "value": str(pid)}, "seconds": PROFILE_S, "hz": HZ}
        asked = self._brain("POST", "/api/v1/profiles", wanted)

        def ended() -> Figures | None:
            now = self._brain("GET", f"/api/v1/profiles/{asked['id']}")
            return now if now["state"] in ("done", "refused") else None

        until(ended, "the profile is there", within_s=PROFILE_S + 40)
        done = ended()
        assert done is not None
        assert done["state"] == "done", done
        return done

    def _brain(self, method: str, path: str, body: object = None) -> Figures:
        address = self.data.socket("brain")
        connection = http.client.HTTPConnection("localhost")
        connection.sock = connected(address)
        headers = {"Authorization": f"Bearer {read_link_token(self.data).reveal()}"}
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, headers | {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        assert answer.status in (200, 202), text
        document: Figures = json.loads(text)
        return document

    def _kubelet_calls(self) -> None:
        """What a kubelet asks all the time; volumes need a real one, and are in the e2e."""
        if "mount" not in self.running:
            return
        with grpc.insecure_channel(f"unix:{self.driver}") as channel:
            for method in ("Identity/Probe", "Node/NodeGetInfo"):
                call = channel.unary_unary(f"/csi.v1.{method}")
                for _ in range(CALLS_OF_KUBELET // 2):
                    call(b"", timeout=5)


def built() -> Path:
    """The Go program beside this file, compiled."""
    target = REPOSITORY / ".build" / "first-light"
    go = next(
        (path for path in ("/usr/local/go/bin/go", REPOSITORY / ".build/go/go/bin/go")
         if Path(path).exists()), "go",
    )  # fmt: skip
    subprocess.run(
        [go, "build", "-trimpath", "-buildvcs=false", "-o", target, "."],
        cwd=Path(__file__).parent / "first_light_go", check=True,
        env={**os.environ, "GOFLAGS": "", "GOWORK": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"},
    )  # fmt: skip
    return target


def _aims(measured: Figures) -> Iterator[Aim]:
    memory = measured["memory_mib"]
    alone = "a budget of design §4, MiB of RssAnon and BPF: "
    here = "one machine, no pods; "
    for name, state, most in (
        ("mount", "idle", 24), ("mount", "busy", 24), ("credentials", "idle", 64),
        ("credentials", "busy", 64), ("observe", "idle", 64), ("observe", "busy", 112),
    ):  # fmt: skip
        value = memory.get(name, {}).get(state)
        yield aim(f"{alone}{name} {state}", value, "<=", most, reason=measured["mount_failed"])
    idle = measured["idle_cpu_percent_of_one"]
    together = sum(idle.get(name, 0) for name in ("mount", "credentials", "observe"))
    yield aim(f"{here}% of one CPU, the agent's processes idle", round(together, 2), "<=", 1.0)
    yield aim(
        "GiB of the brain with 150 000 pods on 5 000 nodes", None, "<=", 1.5,
        reason="another bench measures it: brain-scale",
    )  # fmt: skip
    cpu = measured["admission"]
    change = round(cpu["policies and injection"]["cpu_ms"] - cpu["untouched"]["cpu_ms"], 3)
    what = "ms of CPU to change a pod of 4 KB by policies and injection, above an untouched one's"
    yield aim(what, change, "<=", 0.3)

"""What witnesses of a soak see without asking nemutator: the API server's audit log, files, memory of processes."""

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import psutil
from nemutator_common.names import MUTATION

from tests.processes import own_memory
from tests.testbed.running import leftovers

Json = dict[str, Any]

PATCHES = "patch.webhook.admission.k8s.io/"
FAILED_OPEN = "failed-open."
ESCAPED = "/metadata/annotations/" + str(MUTATION).replace("/", "~1")
PARTS = ("mount", "credentials", "observe", "admission", "brain")
EVERY_S = 15.0
WARM_S = 60.0
"""Before that a process is still reading what there is."""
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A pod that was let in without our mark."""

    at: float
    pod: str
    unasked: bool
    """Because admission could not be reached."""


@dataclass(slots=True)
class AuditWatch:
    """Reads on in the audit log, also behind a change of its file."""

    log: Path
    namespaces: tuple[str, ...]
    """Beginnings of the names of those in which each pod has to be changed."""
    words: list[bytes]
    """What must stand nowhere in it."""
    patched: dict[str, float] = field(default_factory=dict)
    """When each decision was carried out, by its id: as the API server tells of the patch that it has got."""
    unchanged: list[Unchanged] = field(default_factory=list)
    waits_ms: list[float] = field(default_factory=list)
    leaks: int = 0
    _file: BinaryIO | None = None

    def read(self) -> None:
        """All that has been written since."""
        while True:
            if self._file is None:
                self._file = self.log.open("rb")
            file = self._file
            for line in _whole_lines(file):
                self._take(line)
            if os.fstat(file.fileno()).st_ino == self.log.stat().st_ino:
                return
            for line in _whole_lines(file):  # between the last line and the change of file
                self._take(line)
            file.close()
            self._file = None

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _take(self, line: bytes) -> None:
        self.leaks += any(word in line for word in self.words)
        if b'"verb":"create"' not in line or b'"resource":"pods"' not in line:
            return
        event = json.loads(line)
        about = event["objectRef"]
        if "subresource" in about or event["stage"] != "ResponseComplete":
            return
        if not about.get("namespace", "").startswith(self.namespaces):
            return
        at, ended = _when(event["requestReceivedTimestamp"]), _when(event["stageTimestamp"])
        notes = event.get("annotations", {})
        if decision := decision_in(notes):
            self.patched[decision] = at
            self.waits_ms.append((ended - at) * 1000)
        elif event["responseStatus"]["code"] == 201:
            unasked = any(key.startswith(FAILED_OPEN) for key in notes)
            pod = f"{about['namespace']}/{about.get('name', '')}"
            self.unchanged.append(Unchanged(at, pod, unasked))


def decision_in(notes: dict[str, str]) -> str:
    """The id in the mark that a webhook's patch has put on a pod; empty where none has."""
    for key, value in notes.items():
        if not key.startswith(PATCHES):
            continue
        for step in json.loads(value)["patch"]:
            if step["path"] == ESCAPED:
                return str(json.loads(step["value"])["id"])
            if step["path"] == "/metadata/annotations" and str(MUTATION) in step["value"]:
                return str(json.loads(step["value"][str(MUTATION)])["id"])
    return ""


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline():
        if not line.endswith(b"\n"):
            file.seek(-len(line), os.SEEK_CUR)
            return
        yield line


def _when(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def files_with(words: Iterable[bytes], folders: Iterable[Path]) -> list[str]:
    """Regular files below *folders* that have one of *words* in them."""
    wanted, found = list(words), []
    for folder in folders:
        for path in folder.rglob("*"):
            with contextlib.suppress(OSError):  # gone meanwhile
                if path.is_file() and not path.is_symlink():
                    said = path.read_bytes()
                    found += [str(path)] if any(word in said for word in wanted) else []
    return found


@dataclass(slots=True)
class Machine:
    """Memory of our processes in the containers of a run, and the machine's load, every few seconds."""

    run_id: str
    began: float
    memory: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    loads: list[float] = field(default_factory=list)
    _enough: threading.Event = field(default_factory=threading.Event)

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        thread = threading.Thread(target=self._watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._enough.set()
            thread.join()

    def _watch(self) -> None:
        while not self._enough.wait(EVERY_S):
            self.loads.append(os.getloadavg()[0])
            held: dict[str, float] = {}
            for pid in set(leftovers.members(leftovers.cgroups(self.run_id))):
                with contextlib.suppress(psutil.Error):
                    process = psutil.Process(pid)
                    part = part_of(process.cmdline())
                    if part and time.time() - process.create_time() >= WARM_S:
                        held[part] = held.get(part, 0.0) + own_memory(pid) / MIB
            for part, mib in held.items():
                self.memory.setdefault(part, []).append((time.monotonic() - self.began, mib))


def part_of(command: list[str]) -> str:
    """Which of our processes has this command line; empty for others."""
    ours = [
        at for at, word in enumerate(command) if word in ("nemutator_agent", "nemutator_controller")
    ]
    named = command[ours[0] + 1 : ours[0] + 2] if ours else []
    return named[0] if named and named[0] in PARTS else ""

"""The confinement of workers from inside: what one that was taken over could still do, which is nothing."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nemutator_agent.inspection.confined_worker import AnswerLimits, ConfinedWorker
from nemutator_agent.inspection.confinement import FIRST_USER
from nemutator_agent.inspection.failures import WorkerFailedError

from tests.contract.inspection import attempts

ATTEMPTS = str(Path(attempts.__file__).parent)

IMPORTS = f"import ctypes, os, socket, sys; sys.path.insert(0, {ATTEMPTS!r}); import attempts;"
IMPORTS += "from nemutator_agent.inspection import worker;"
UNCONFINED = IMPORTS + "worker.serve(socket.socket(fileno=int(sys.argv[2])), attempts.respond)"
CONFINED = "worker.main()"

NOBODY = 65534
ORDINARY = f"os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY});"
# PR_SET_KEEPCAPS, as a service of systemd with AmbientCapabilities= has them.
SERVICE = "ctypes.CDLL(None).prctl(8, 1, 0, 0, 0);" + ORDINARY
CONTAINER = (
    "was = os.geteuid(); ctypes.CDLL(None).unshare(0x10000000) and os._exit(9);"
    "open('/proc/self/uid_map', 'w').write(f'0 {was} 1');"
)

REACHES = """
import ctypes, errno, os, sys
user, pid = map(int, sys.argv[1:])
os.setgroups([])
os.setgid(user)
os.setuid(user)
def name(call, *arguments):
    try:
        call(*arguments)
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace(16, pid, None, None)
print(errno.errorcode[ctypes.get_errno()], name(os.kill, pid, 0), name(open, f"/proc/{pid}/environ"))
"""


def reached_by(user: int, pid: int) -> list[str]:
    """What a process of that user gets when it traces, signals and reads another one."""
    command = (sys.executable, "-I", "-c", REACHES, str(user), str(pid))
    return subprocess.check_output(command, text=True).split()


only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be several users")


def worker_of(program: str) -> ConfinedWorker:
    return ConfinedWorker(
        "attempts",
        AnswerLimits(cpu_s=120, wall_s=240, bytes=1 << 20),
        command=(sys.executable, "-I", "-c", program),
    )


@contextlib.contextmanager
def waiting_as(user: int) -> Iterator[int]:
    """A process of this user."""
    who: dict[str, Any] = {"user": user, "extra_groups": []} if os.geteuid() == 0 else {}
    with subprocess.Popen(["sleep", "600"], **who) as process:
        try:
            yield process.pid
            assert process.poll() is None
        finally:
            process.kill()


async def results(worker: ConfinedWorker, victim: int, folder: Path) -> dict[str, str]:
    given = folder / "file"
    given.write_bytes(b"given")
    with given.open("rb") as file:
        question = json.dumps({"victim": victim}).encode()
        answer: dict[str, str] = await worker.ask(question, file.fileno(), json.loads)
    return answer


def pid_of(worker: ConfinedWorker) -> int:
    assert worker._running is not None
    return worker._running[0].pid


def status_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


@pytest.mark.slow
async def test_what_is_refused_below_could_be_done_without_the_confinement(tmp_path: Path) -> None:
    worker = worker_of(UNCONFINED)
    try:
        with waiting_as(os.geteuid()) as victim:
            found = await results(worker, victim, tmp_path)
    finally:
        worker.stop()
    refused = {name for name, result in found.items() if result == "EPERM"}
    # What needs root, or what this kernel or the filter of a container may leave out.
    rights = {"mount", "bpf", "perf_event_open", "another user", "userfaultfd"}
    hidden = {"ptrace", "process_vm_readv", "a new namespace", "io_uring", "keyctl", "clone3"}
    assert refused <= rights | hidden
    if os.geteuid() == 0:
        assert found["ptrace"] == found["process_vm_readv"] == "done"


@pytest.mark.slow
@pytest.mark.parametrize(
    "before",
    [
        pytest.param("", id="as it is"),
        pytest.param(ORDINARY, id="as an ordinary user", marks=only_root),
        pytest.param(SERVICE, id="as a service with capabilities", marks=only_root),
        pytest.param(CONTAINER, id="as root of a user namespace"),
    ],
)
async def test_a_worker_that_was_taken_over_can_do_nothing(before: str, tmp_path: Path) -> None:
    worker = worker_of(IMPORTS + before + CONFINED)
    try:
        try:
            await results(worker, os.getpid(), tmp_path)
        except WorkerFailedError:
            if before == CONTAINER:
                pytest.skip("no user namespaces for this user")
            raise
        status = status_of(pid_of(worker))
        with waiting_as(int(status["Uid"].split()[0])) as victim:
            found = await results(worker, victim, tmp_path)
    finally:
        worker.stop()
    assert len(found) > 30
    assert set(found.values()) == {"EPERM"}, found
    assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1")
    capabilities = (status[f"Cap{kind}"] for kind in ("Inh", "Prm", "Eff", "Amb"))
    assert {*capabilities} == {"0" * 16}


@only_root
@pytest.mark.slow
async def test_two_workers_are_two_users_whom_nobody_else_can_reach(tmp_path: Path) -> None:
    workers = [worker_of(IMPORTS + CONFINED) for _ in range(2)]
    try:
        for worker in workers:
            await results(worker, os.getpid(), tmp_path)
        first, second = map(pid_of, workers)
        for pid in first, second:
            own = " ".join([str(FIRST_USER + pid)] * 4)
            assert status_of(pid)["Uid"].split() == status_of(pid)["Gid"].split() == own.split()
            assert status_of(pid)["Groups"] == ""
        for user in NOBODY, FIRST_USER + second:
            assert reached_by(user, first) == ["EPERM", "EPERM", "EACCES"], user
    finally:
        for worker in workers:
            worker.stop()


@pytest.mark.slow
async def test_a_worker_that_cannot_give_up_its_rights_says_so_and_reads_nothing(
    tmp_path: Path,
) -> None:
    worker = worker_of(IMPORTS + "attempts.refuse_capset();" + CONFINED)
    for _ in range(2):
        with pytest.raises(WorkerFailedError) as failure:
            await results(worker, 1, tmp_path)
        assert failure.value.reason == "unconfined"


@pytest.mark.slow
@pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="only there programs have two ways to call"
)
def test_a_call_in_the_way_of_32_bit_programs_is_the_end() -> None:
    program = (
        "import ctypes, mmap; from nemutator_agent.inspection.confinement import confine;"
        "code = mmap.mmap(-1, 4096, prot=7);"
        r"code.write(b'\xb8\x14\x00\x00\x00\xcd\x80\xc3');"  # mov eax, 20 (getpid); int 0x80; ret
        "call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)));"
        "confine(); call()"
    )
    ended = subprocess.run([sys.executable, "-I", "-c", program], check=False)
    # A kernel without 32-bit programs ends it for the instruction.
    assert ended.returncode in (-signal.SIGSYS, -signal.SIGSEGV)


@pytest.mark.slow
def test_landlock_alone_denies_files_to_whoever_has_no_rights() -> None:
    program = (
        "import ctypes, os; from nemutator_agent.inspection.landlock import deny_everything;"
        "libc = ctypes.CDLL(None); known = libc.syscall(444, None, ctypes.c_size_t(0), 1);"
        "libc.prctl(38, 1, 0, 0, 0);\n"
        "deny_everything()\n"
        "try:\n    os.listdir('/')\n"
        "except OSError as error:\n    os._exit(error.errno)\n"
        "os._exit(0 if known < 1 else 1)"
    )
    ended = subprocess.run([sys.executable, "-I", "-c", program], check=False)
    assert ended.returncode in (errno.EACCES, 0)

"""nemutator-exec as a process, against the socket that pods have."""

import asyncio
import json
import os
import resource
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from nemutator_common import names

from tests.fakes.exec_program import (
    PATIENCE_S,
    PROGRAM,
    PROGRAMS,
    SHOW,
    Ran,
    agent,
    http,
    options,
    run,
    saying,
)
from tests.fakes.pod_sockets import Node

DECLARED = {"env.TOKEN": "secret/app/db#password", "env.USER_NAME": "secret/app/db#user"}
VALUE = "hunter2 with = and a\nnewline"
GOOD = http(200, b"TOKEN=hunter2\0")

MACHINES = {"x86_64": 62, "aarch64": 183}
"""e_machine of ELF."""
SEGMENT_INTERPRETER = 3
NOBODY = 65534


@pytest.fixture
def node(tmp_path: Path) -> Node:
    made = Node(tmp_path)
    made.setup.vault.state.write("secret/app/db", {"password": VALUE, "user": "api"})
    made.setup.allow("secret/app/db")
    return made


async def running(*words: str) -> Ran:
    return await asyncio.to_thread(run, words)


async def test_the_command_has_what_the_pod_declares_and_its_own_exit_code(node: Node) -> None:
    async with node.running():
        where = await node.publish("v1", declared=DECLARED)
        command = ("/bin/sh", "-c", 'printf %s/%s "$TOKEN" "$USER_NAME"; exit 7')
        ran = await running(*options(where), "--", *command)
    assert ran == Ran(7, f"{VALUE}/api".encode(), "")


async def test_a_refusal_is_the_last_word_and_nothing_is_started(node: Node) -> None:
    async with node.running():
        where = await node.publish("v1", declared={"env.TOKEN": "secret/other#x"})
        ran = await running(*options(where), "--", *SHOW)
    assert (ran.code, ran.printed) == (125, b"")
    assert ran.reported.startswith("nemutator-exec: the environment: Vault denies secret/other")
    assert "(step: vault); remedy: give the role a policy" in ran.reported
    assert ran.reported.count("\n") == 1


async def test_a_value_that_cannot_be_a_variable_is_refused_by_name(node: Node) -> None:
    node.setup.vault.state.write("secret/app/db", {"password": "hunter2\0more", "user": "api"})
    async with node.running():
        where = await node.publish("v1", declared=DECLARED)
        ran = await running(*options(where), "--", *SHOW)
    assert ran.code == 125
    assert "variable 'TOKEN' holds a zero byte" in ran.reported
    assert "hunter2" not in ran.reported


def test_a_declared_variable_replaces_an_inherited_one_and_the_others_stay(tmp_path: Path) -> None:
    inherited = {"TOKEN": "old", "TOKEN_FILE": "kept", "PATH": "/usr/bin:/bin", "T": "kept"}
    with agent(tmp_path, saying(GOOD)) as where:
        ran = run([*options(where), "--", "env"], environment=inherited)
    found = sorted(ran.printed.decode().splitlines())
    assert found == ["PATH=/usr/bin:/bin", "T=kept", "TOKEN=hunter2", "TOKEN_FILE=kept"]


def test_what_may_heal_is_waited_for_and_said_once(tmp_path: Path) -> None:
    words = {"error": "Vault is sealed", "remedy": "unseal it", "step": "vault"}
    sealed = http(503, json.dumps(words).encode())
    answers = iter([sealed, sealed, b"HTTP/1.1 200 OK\r\nContent-Le", GOOD])
    with agent(tmp_path, lambda connection: saying(next(answers))(connection)) as where:
        ran = run([*options(where), "--", *SHOW])
    assert (ran.code, ran.printed) == (0, b"hunter2")
    assert ran.reported == (
        "nemutator-exec: waiting: the environment: Vault is sealed (step: vault); remedy: unseal it\n"
        "nemutator-exec: waiting: no answer from the agent on this node: Connection reset by peer "
        f"({where}); remedy: the agent's DaemonSet must run on this node\n"
    )


def test_without_an_agent_it_gives_up_with_a_remedy() -> None:
    ran = run([*options(Path("nowhere.sock"), wait_s=1), "--", *SHOW])
    assert (ran.code, ran.printed) == (125, b"")
    assert ran.reported.endswith(
        "nemutator-exec: waited 1 s; no answer from the agent on this node: No such file or "
        "directory (nowhere.sock); remedy: the agent's DaemonSet must run on this node\n"
    )


def test_who_closes_without_reading_has_answered_all_the_same(tmp_path: Path) -> None:
    """As the agent does with a connection too many."""
    with agent(tmp_path, lambda connection: connection.sendall(GOOD)) as where:
        assert run([*options(where), "--", *SHOW]).printed == b"hunter2"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (http(403, b"nonsense"), "the agent answers with HTTP status 403"),
        (http(404, b'{"error": "e", "remedy": "r"}'), "the agent answers with HTTP status 404"),
        (
            http(400, b'{"error": "\\u001b[31m\\n\\"x\\" \xc3\xbc", "remedy": "r", "step": "s"}'),
            'the environment: ?[31m "x" ?? (step: s); remedy: r',
        ),
        (
            http(400, b'{"error": "' + b"e" * 9000 + b'", "remedy": "r", "step": "s"}'),
            f"the environment: {'e' * 500} (step: s); remedy: r",
        ),
    ],
)
def test_a_refusal_is_shown_on_one_line_of_plain_characters(
    tmp_path: Path, answer: bytes, words: str
) -> None:
    with agent(tmp_path, saying(answer)) as where:
        ran = run([*options(where), "--", *SHOW])
    assert (ran.code, ran.printed) == (125, b"")
    assert ran.reported.isprintable() is False  # its end of line
    assert words in ran.reported
    assert ran.reported[:-1].isprintable()


# --- the command ---------------------------------------------------------------------------------
def program_in(folder: Path, name: str, text: str, mode: int = 0o755) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text)
    path.chmod(mode)
    return path


def test_the_command_is_looked_for_as_runtimes_do(tmp_path: Path) -> None:
    program_in(tmp_path / "first", "tool", "#!/bin/sh\necho first\n", 0o644)
    program_in(tmp_path / "second", "tool", '#!/bin/sh\necho "second $0 $1"\n')
    path = f"{tmp_path}/none:{tmp_path}/first:{tmp_path}/second"
    with agent(tmp_path, saying(GOOD)) as where:
        words = [*options(where), "--", "tool", "a b"]
        ran = run(words, environment={"PATH": path})
        assert ran.printed.decode() == f"second {tmp_path}/second/tool a b\n"
        ran = run([*options(where), "--", "sh", "-c", "echo usual"], environment={})
        assert ran.printed == b"usual\n"


@pytest.mark.parametrize(
    ("command", "code", "reason"),
    [
        ("/nowhere/at-all", 127, "/nowhere/at-all: No such file or directory; remedy: name a"),
        ("no-such-tool", 127, "no-such-tool: No such file or directory"),
        ("", 127, ": No such file or directory"),
        ("/etc/passwd", 126, "/etc/passwd: Permission denied"),
        ("/etc", 126, "/etc: Permission denied"),
    ],
)
def test_a_command_that_cannot_be_executed_is_named(
    tmp_path: Path, command: str, code: int, reason: str
) -> None:
    with agent(tmp_path, saying(GOOD)) as where:
        ran = run([*options(where), "--", command])
    assert (ran.code, ran.printed) == (code, b"")
    assert reason in ran.reported
    assert "hunter2" not in ran.reported


def test_a_file_that_is_no_program_is_no_script_either(tmp_path: Path) -> None:
    program = program_in(tmp_path / "bin", "tool", "echo started\n")
    with agent(tmp_path, saying(GOOD)) as where:
        ran = run([*options(where), "--", str(program)])
    assert (ran.code, ran.printed) == (126, b"")
    assert "Exec format error" in ran.reported


def test_variables_that_no_program_can_take_are_said_with_what_helps(tmp_path: Path) -> None:
    with agent(tmp_path, saying(http(200, b"TOKEN=" + b"x" * (200 << 10) + b"\0"))) as where:
        ran = run([*options(where), "--", *SHOW])
    assert ran.code == 126
    assert "Argument list too long; remedy: declare fewer or shorter variables" in ran.reported


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "no command is given"),
        (["--"], "no command is given"),
        (["--wait", "soon", "--", "x"], "--wait: expected seconds"),
        (["--wait", "0", "--", "x"], "--wait: expected seconds"),
        (["--wait", "12345", "--", "x"], "--wait: expected seconds"),
        (["--wait"], "an option without its value"),
        (["--what", "--", "x"], "an unknown option"),
    ],
)
def test_wrong_words_are_refused_with_how_to_write_them(words: Sequence[str], reason: str) -> None:
    ran = run(words)
    assert ran.code == 125
    assert ran.reported.startswith(f"nemutator-exec: {reason}")
    assert "-- COMMAND" in ran.reported


# --- the process ---------------------------------------------------------------------------------
def test_the_command_inherits_the_signals_and_the_limits_as_they_were(tmp_path: Path) -> None:
    command = ["grep", "-E", "^Sig(Ign|Cgt|Blk)", "/proc/self/status"]
    ignoring = ["/bin/sh", "-c", 'trap "" TERM USR1; exec "$@"', "sh"]
    with agent(tmp_path, saying(GOOD)) as where:
        direct = subprocess.run([*ignoring, *command], capture_output=True, check=True)
        words = [*ignoring, str(PROGRAM), *options(where), "--", *command]
        through = subprocess.run(words, capture_output=True, check=True, timeout=PATIENCE_S)
        core = run([*options(where), "--", "sh", "-c", "ulimit -c"])
    assert through.stdout == direct.stdout
    wanted = resource.getrlimit(resource.RLIMIT_CORE)[0]
    assert core.printed.decode().strip() == ("unlimited" if wanted < 0 else str(wanted // 512))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_it_ends_when_its_pod_does(number: signal.Signals) -> None:
    """By a handler of its own: a container's first process gets no signal that it does not handle."""
    words = [str(PROGRAM), *options(Path("nowhere.sock"), wait_s=60), "--", "true"]
    # What ignores a signal where these tests run goes on to do so, as in a shell's background job.
    words = ["env", f"--default-signal={number.value}", *words]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as waiting:
        assert waiting.stderr is not None
        assert "waiting: no answer from the agent" in waiting.stderr.readline()
        waiting.send_signal(number)
        assert waiting.wait(timeout=PATIENCE_S) == 128 + number
        assert waiting.stderr.read() == ""


def test_no_other_process_of_its_user_may_read_its_memory_while_it_asks() -> None:
    owners: list[int] = []

    def look(connection: socket.socket) -> None:
        pid, _, _ = struct.unpack(
            "iII", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        )
        # What may not be dumped belongs to root, whatever its user.
        owners.append(Path(f"/proc/{pid}/mem").stat().st_uid)
        saying(GOOD)(connection)

    user = os.getuid() or NOBODY
    with tempfile.TemporaryDirectory() as name, agent(folder := Path(name), look) as where:
        program = Path(shutil.copy2(PROGRAM, folder))
        for path in (folder, program, where):
            path.chmod(0o777)
        command = [str(program), *options(where), "--", *SHOW]
        shown = subprocess.check_output(command, user=user, timeout=PATIENCE_S)
    assert shown == b"hunter2"
    assert owners == [0]


def test_nothing_but_the_three_standard_files_is_left_open(tmp_path: Path) -> None:
    with agent(tmp_path, saying(GOOD)) as where:
        ran = run([*options(where), "--", "sh", "-c", "ls /proc/$$/fd"])
    assert ran.printed.split() == [b"0", b"1", b"2"]


# --- the files -----------------------------------------------------------------------------------
@pytest.mark.parametrize("machine", MACHINES)
def test_the_program_needs_nothing_of_an_image(machine: str) -> None:
    program = (PROGRAMS / f"nemutator-exec.{machine}").read_bytes()
    assert len(program) < 100 * 1024
    assert program[:6] == b"\x7fELF\x02\x01"
    assert struct.unpack_from("<HH", program, 16) == (2, MACHINES[machine])
    (where,) = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    kinds = [struct.unpack_from("<II", program, where + size * i) for i in range(count)]
    assert SEGMENT_INTERPRETER not in [kind for kind, _ in kinds]
    # No segment can be written and executed.
    assert not [flags for _, flags in kinds if flags & 3 == 3]
    assert f"{names.POD_DIRECTORY}/{names.POD_SOCKET}\0".encode() in program

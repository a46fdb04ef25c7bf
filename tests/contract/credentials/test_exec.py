"""`nemutator exec` as a process, against an agent on a machine without Vault."""

import asyncio
import os
import signal
import sys

import pytest
from nemutator_common.errors import ExitCode

from tests.contract.credentials.standalone import Machine
from tests.fakes.pod_sockets import PATIENCE_S

SHOW = ("/bin/sh", "-c", 'printf %s "$DB_PASSWORD"; exit 7')


async def nemutator_exec(*words: str, **environment: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "nemutator_ctl", "exec", *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environment},
    )
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def test_the_command_has_the_secret_in_its_environment_and_its_own_exit_code(
    machine: Machine,
) -> None:
    async with machine.running():
        await machine.set("db", "hunter2 with = and a\nnewline")
        where = ("--data-dir", str(machine.directory.root))
        ran = await nemutator_exec(*where, "--env", "DB_PASSWORD=db", "--", *SHOW)
        assert ran == (7, "hunter2 with = and a\nnewline", "")
        where = ("--socket", str(machine.agent))
        ran = await nemutator_exec(*where, "--", *SHOW, DB_PASSWORD="inherited")
        assert ran == (7, "inherited", "")


async def test_the_command_does_not_ignore_the_signals_that_python_ignores() -> None:
    code, out, _ = await nemutator_exec("--", "grep", "SigIgn", "/proc/self/status")
    assert code == 0
    # Python ignores these two; what ignores others, such as nohup, is above all of us.
    ignored = int(out.split()[1], 16)
    assert [
        number for number in (signal.SIGPIPE, signal.SIGXFSZ) if ignored >> number - 1 & 1
    ] == []


async def test_the_command_has_the_environment_that_it_would_have_without_us() -> None:
    # All that names a language: without it, Python sets a variable of its own.
    words = [f"--unset={name}" for name in ("LANG", "LC_ALL", "LC_CTYPE", "PYTHONCOERCECLOCALE")]
    words += [sys.executable, "-m", "nemutator_ctl", "exec", "--", "env", "-0"]
    process = await asyncio.create_subprocess_exec("env", *words, stdout=asyncio.subprocess.PIPE)
    out, _ = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert out
    assert b"LC_CTYPE" not in out


async def test_the_command_is_not_started_without_its_secret(machine: Machine) -> None:
    async with machine.running():
        await machine.set("db", "hunter2", f"uid={os.getuid() + 1}")
        where = ("--socket", str(machine.agent))
        for secret, reason in (("db", "step: rule"), ("nope", "nemutator secret set")):
            words = (*where, "--env", f"DB_PASSWORD={secret}", "--", "/bin/echo", "started")
            code, out, err = await nemutator_exec(*words)
            assert (code, out) == (ExitCode.NOT_STARTED, "")
            assert reason in err
            assert "remedy: " in err
            assert "hunter2" not in err


async def test_without_an_agent_it_waits_and_then_says_what_to_do(machine: Machine) -> None:
    where = ("--socket", str(machine.agent), "--wait", "0.1s")
    code, out, err = await nemutator_exec(*where, "--env", "A=db", "--", "/bin/echo", "started")
    assert (code, out) == (ExitCode.NOT_STARTED, "")
    assert "remedy: start it with `nemutator up`" in err


@pytest.mark.parametrize("command", ["/nowhere/at-all", "/etc/passwd"])
async def test_a_command_that_cannot_be_executed_is_named(command: str) -> None:
    code, _, err = await nemutator_exec("--", command)
    assert code == ExitCode.NOT_STARTED
    assert command in err


async def test_without_a_command_it_says_how_to_write_one() -> None:
    code, _, err = await nemutator_exec("--env", "A=db")
    assert code == ExitCode.USAGE
    assert "-- COMMAND" in err

"""Another machine: QEMU, with a kernel that is not ours, systemd, and control groups of version 2.

It sees nothing but itself: its network leads nowhere, and tests reach it by a port of loopback.
"""

import contextlib
import os
import secrets
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.building import made, unpacked
from tests.testbed.parts.machine import run_disk
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.run import Run

READY_S = 600.0
"""Emulated on a busy machine; on an idle one it takes half a minute."""

CALL_S = 600.0

ACCELERATOR = "NEMUTATOR_MACHINE_ACCELERATOR"
"""Names another of QEMU's. Not found out: where KVM is there, guests may hang at their start."""

CPUS, MEMORY_MB = 2, 2048


class CommandFailedError(Exception):
    """A command of a machine that ended with another code than 0, with what it said."""


@dataclass(frozen=True, slots=True)
class Machine:
    kernel: str
    daemon: Daemon
    console: Path
    _ssh: tuple[str, ...]
    _environment: dict[str, str]

    def run(self, *command: str | Path, given: bytes = b"", within_s: float = CALL_S) -> str:
        """What *command* writes to its standard output, as root of the machine."""
        words = shlex.join(map(str, command))
        return self.sh(words, given=given, within_s=within_s)

    def sh(self, script: str, *, given: bytes = b"", within_s: float = CALL_S) -> str:
        """The same for a line of shell."""
        try:
            ran = subprocess.run(
                [*self._ssh, script],
                input=given,
                capture_output=True,
                timeout=within_s,
                check=False,
                env=self._environment,
            )
        except subprocess.TimeoutExpired as late:
            raise CommandFailedError(
                f"{script}: not within {within_s:g} s; the console's end:\n{self._console_end()}"
            ) from late
        if ran.returncode:
            said = (ran.stdout + ran.stderr).decode(errors="replace")
            raise CommandFailedError(f"{script}: ended with {ran.returncode}:\n{said}")
        return ran.stdout.decode()

    def holds(self, script: str) -> bool:
        """Whether a line of shell ends well."""
        try:
            self.sh(script)
        except CommandFailedError:
            return False
        return True

    def _console_end(self) -> str:
        return self.console.read_text(errors="replace")[-2000:]


@contextlib.contextmanager
def running(run: Run, kernel: str) -> Iterator[Machine]:
    """One with the version *kernel* of recipes.GUEST_KERNELS, from when all its services stand."""
    machine = begin(run, kernel)
    try:
        yield machine
    finally:
        # Nobody has to wait for its system to end: what it wrote goes with it.
        machine.daemon.kill()


def begin(run: Run, kernel: str) -> Machine:
    """The same, which ends with its run."""
    guest, tools = made.guest(), made.debian("machine")
    boot = made.guest_kernel(kernel, "amd64")
    name = f"machine-{kernel}-{secrets.token_hex(2)}"
    folder = run.folder(name)
    environment = unpacked.environment(tools)
    key = run_disk.make_key(folder, environment)
    disk = run_disk.make(folder, key)
    port = free_port()
    console = run.logs / f"{name}.console"
    shared = tools / "usr/share"
    daemon = run.started(
        name,
        [
            unpacked.program(tools, "qemu-system-x86_64"),
            *("-L", shared / "qemu", "-L", shared / "seabios"),
            *("-accel", os.environ.get(ACCELERATOR, "tcg,thread=multi"), "-cpu", "max"),
            *("-smp", str(CPUS), "-m", str(MEMORY_MB), "-display", "none", "-no-reboot"),
            *("-serial", f"file:{console}"),
            *("-kernel", boot / "vmlinuz", "-initrd", boot / "initramfs"),
            *("-append", "console=ttyS0 quiet panic=-1 psi=1"),
            # What is written goes with the machine.
            *("-drive", f"file={guest / 'disk.img'},if=virtio,format=raw,snapshot=on"),
            *("-drive", f"file={made.guest_packages()},if=virtio,format=raw,snapshot=on"),
            *("-drive", f"file={disk},if=virtio,format=raw,readonly=on"),
            *("-drive", f"file={boot / 'modules.img'},if=virtio,format=raw,readonly=on"),
            *("-netdev", f"user,id=net,restrict=on,hostfwd=tcp:{LOOPBACK}:{port}-:22"),
            *("-device", "virtio-net-pci,netdev=net,romfile="),
        ],
        environment=environment | {"TMPDIR": str(folder)},
    )
    machine = Machine(kernel, daemon, console, _ssh(tools, folder, key, port), environment)
    daemon.wait_until(lambda: machine.holds("systemctl is-system-running --wait"), within_s=READY_S)
    return machine


def _ssh(tools: Path, folder: Path, key: Path, port: int) -> tuple[str, ...]:
    options = {
        "BatchMode": "yes",
        "ConnectTimeout": "30",
        # One connection for all commands: to make one takes an emulated CPU seconds.
        "ControlMaster": "auto",
        "ControlPath": str(folder / "ssh"),
        "ControlPersist": "600",
        "IdentitiesOnly": "yes",
        "IdentityFile": str(key),
        "LogLevel": "ERROR",
        "StrictHostKeyChecking": "accept-new",
        "UserKnownHostsFile": str(folder / "known_hosts"),
    }
    given = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    return (
        *(str(unpacked.program(tools, "ssh")), "-F", "none", *given),
        *("-p", str(port), f"root@{LOOPBACK}", "--"),
    )

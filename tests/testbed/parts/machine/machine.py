"""Another machine: QEMU, with a kernel that is not ours, systemd, and control groups of version 2.

It sees nothing but itself: its network leads nowhere, and tests reach it by a port of loopback.
"""

import contextlib
import os
import secrets
import shlex
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.processes import cpu_seconds
from tests.testbed.building import made, unpacked
from tests.testbed.parts.machine import run_disk
from tests.testbed.parts.machine.boot_progress import BootProgress
from tests.testbed.parts.machine.processors import PROCESSORS
from tests.testbed.running.daemons import Daemon, DaemonFailedError
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.run import Run
from tests.testbed.running.waiting import until

READY_S = 1800.0
"""Emulated on a busy machine; on an idle one it takes a minute."""

STARTS = 3
"""On a busy machine an emulated kernel has once hung before it had started anything. That is no test's
fault, so it is said and started anew. One that is merely slow is waited for."""

REBOOTED_S = 1800.0
"""What runs in it may take minutes to end, before it starts anew."""

CALL_S = 600.0

ACCELERATOR = "TESTBED_ACCELERATOR"
"""Names another of QEMU's. Not found out: where KVM is there, guests may hang at their start, as they do with a KVM that
has neither processor's virtualization below it (CONFIG_KVM_PVM): it runs kernels alone that are built for it."""

CPUS = 2

KERNEL_OPTIONS = "panic=-1 psi=1 tsc=reliable mitigations=off"
"""Without the last two, each look at the clock and each system call costs an emulated CPU many times
as much: it reads a timer of QEMU's, and forgets the addresses that it has translated."""

HOST = "10.0.2.2"
"""How a machine that may reach it calls the loopback of the machine around it."""

UP = """systemctl is-system-running --wait || {
    systemctl list-units --failed --plain --no-legend | cut -d' ' -f1 | xargs -r systemctl start
    systemctl is-system-running
}"""
"""Some of systemd's own units give up after 90 s, which may be no fault of theirs: they are started again."""

PROMPT = b"(qemu) "
BOOT_ID = "/proc/sys/kernel/random/boot_id"


@dataclass(frozen=True, slots=True)
class Equipment:
    """What a machine is given beyond what each has."""

    files: Mapping[str, Path] = field(default_factory=dict)
    """Files and folders, by their names in `run_disk.BROUGHT`."""
    architecture: str = "amd64"
    memory_mb: int = 2048
    disk_mb: int = 256
    """For all that the run brings."""
    reaches_host: bool = False
    """Whether HOST leads to the loopback around it; to other networks it has no route."""
    may_reboot: bool = False
    headers: bool = False
    """Whether it has the headers of its kernel."""


PLAIN = Equipment()


class CommandFailedError(Exception):
    """A command of a machine that ended with another code than 0, with what it said."""


@dataclass(frozen=True, slots=True)
class Machine:
    kernel: str
    architecture: str
    daemon: Daemon
    console: Path
    _ssh: tuple[str, ...]
    _environment: dict[str, str]
    _monitor: Path

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

    def write(self, path: str | Path, content: str | bytes) -> None:
        """A file of root's alone, and the folders above it."""
        given = content.encode() if isinstance(content, str) else content
        name = shlex.quote(str(path))
        self.sh(f"umask 077; mkdir -p $(dirname {name}); cat > {name}", given=given)

    def forward(self, port: int, *, address: str = LOOPBACK) -> None:
        """Lead *port* of *address*, which is ours, to the same port of the machine."""
        answer = self._ask_monitor(f"hostfwd_add net tcp:{address}:{port}-:{port}")
        if answer:
            raise CommandFailedError(f"port {port} is not forwarded: {answer}")

    def attach(self, disk: Path) -> str:
        """Give it a disk; the file that this is there. What is written to it goes with the machine."""
        name = f"disk-{secrets.token_hex(4)}"
        backend = f"if=none,file={disk},format=raw,snapshot=on,id={name}"
        answer = self._ask_monitor(f"drive_add 0 {backend}")
        if answer != "OK":
            raise CommandFailedError(f"{disk} is not attached: {answer}")
        answer = self._ask_monitor(f"device_add virtio-blk-pci,drive={name},serial={name}")
        if answer:
            raise CommandFailedError(f"{disk} is not attached: {answer}")
        device = f"/dev/disk/by-id/virtio-{name}"
        self.sh(f"until [ -b {device} ]; do sleep 1; done")
        return device

    def reboot(self) -> None:
        """As its administrator does, and return when all its services stand again."""
        before = self.run("cat", BOOT_ID)
        with contextlib.suppress(CommandFailedError):  # the connection may end before the answer
            self.run("systemctl", "reboot", "--no-block")
        until(lambda: self._booted_since(before), "the machine is up again", within_s=REBOOTED_S)
        self.daemon.wait_until(self.is_up, within_s=REBOOTED_S)

    def is_up(self) -> bool:
        return self.holds(UP)

    def _booted_since(self, before: str) -> bool:
        # The connection of before is of no use, and need not notice it by itself.
        leave = [*self._ssh[: self._ssh.index("--")], "-O", "exit"]
        subprocess.run(leave, capture_output=True, check=False, env=self._environment)
        try:
            return self.run("cat", BOOT_ID, within_s=60) != before
        except CommandFailedError:
            return False

    def _ask_monitor(self, command: str) -> str:
        """What QEMU answers to *command*: nothing when it did what it was asked."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.settimeout(CALL_S)
            monitor.connect(str(self._monitor))
            _read_to_prompt(monitor)
            monitor.sendall(f"{command}\n".encode())
            # Before its answer it repeats the command, as it was typed.
            return "\n".join(_read_to_prompt(monitor).splitlines()[1:]).strip()

    def _console_end(self) -> str:
        return self.console.read_text(errors="replace")[-2000:]


@contextlib.contextmanager
def running(run: Run, kernel: str, equipment: Equipment = PLAIN) -> Iterator[Machine]:
    """One with the version *kernel* of recipes.GUEST_KERNELS, from when all its services stand."""
    machine = begin(run, kernel, equipment)
    try:
        yield machine
    finally:
        # Nobody has to wait for its system to end: what it wrote goes with it.
        machine.daemon.kill()


def begin(run: Run, kernel: str, equipment: Equipment = PLAIN) -> Machine:
    """The same, which ends with its run."""
    architecture = equipment.architecture
    processor, tools = PROCESSORS[architecture], made.debian("machine")
    emulator = made.debian(processor.group)
    boot = made.guest_kernel(kernel, architecture, headers=equipment.headers)
    name = f"machine-{kernel}-{architecture}-{secrets.token_hex(2)}"
    folder = run.folder(name)
    environment = unpacked.environment(tools)
    key = run_disk.make_key(folder, environment)
    disk = run_disk.make(
        folder, key, equipment.files, architecture=architecture, size_mb=equipment.disk_mb
    )
    port = free_port()
    console = run.logs / f"{name}.console"
    monitor = folder / "monitor"
    shared = emulator / "usr/share"
    restrict = "off" if equipment.reaches_host else "on"
    command = [
        unpacked.program(emulator, processor.program),
        *("-L", shared / "qemu", "-L", shared / "seabios"),
        *("-accel", os.environ.get(ACCELERATOR, "tcg,thread=multi"), *processor.options),
        *("-smp", str(CPUS), "-m", str(equipment.memory_mb), "-display", "none"),
        *(() if equipment.may_reboot else ("-no-reboot",)),
        *("-serial", f"file:{console}", "-monitor", f"unix:{monitor},server=on,wait=off"),
        *("-kernel", boot / "vmlinuz", "-initrd", boot / "initramfs"),
        *("-append", f"console={processor.console} {KERNEL_OPTIONS}"),
        # What is written goes with the machine.
        *(
            "-drive",
            f"file={made.guest(architecture) / 'disk.img'},if=virtio,format=raw,snapshot=on",
        ),
        *(
            "-drive",
            f"file={made.guest_packages(architecture)},if=virtio,format=raw,snapshot=on",
        ),
        *("-drive", f"file={disk},if=virtio,format=raw,readonly=on"),
        *("-drive", f"file={boot / 'modules.img'},if=virtio,format=raw,readonly=on"),
        *("-netdev", f"user,id=net,restrict={restrict},hostfwd=tcp:{LOOPBACK}:{port}-:22"),
        *("-device", "virtio-net-pci,netdev=net,romfile="),
    ]
    ssh = _ssh(tools, folder, key, port)
    surroundings = unpacked.environment(emulator) | {"TMPDIR": str(folder)}

    def start() -> Machine:
        daemon = run.started(name, command, environment=surroundings)
        return Machine(kernel, architecture, daemon, console, ssh, environment, monitor)

    return _first_up(start)


def _first_up(start: Callable[[], Machine]) -> Machine:
    for number in range(1, STARTS + 1):
        machine = start()
        if _comes_up(machine):
            return machine
        machine.daemon.kill()
        # Beside the logs that are kept, so that somebody can find out where it hung.
        with contextlib.suppress(FileNotFoundError):
            machine.console.rename(machine.console.with_suffix(f".hung-{number}"))
        print(f"{machine.daemon.name} hangs at its start; its log:\n{machine.daemon.said()}")
    raise DaemonFailedError(f"it hung at each of {STARTS} starts")


def _comes_up(machine: Machine) -> bool:
    """False once it hangs."""
    progress, is_up = BootProgress(), False

    def settled() -> bool:
        nonlocal is_up
        is_up = machine.is_up()
        said = machine.console.stat().st_size if machine.console.exists() else 0
        cpu_s = cpu_seconds(machine.daemon.pid)
        return is_up or progress.hangs(said=said, cpu_s=cpu_s, now=time.monotonic())

    machine.daemon.wait_until(settled, within_s=READY_S)
    return is_up


def _read_to_prompt(monitor: socket.socket) -> str:
    read = b""
    while not read.endswith(PROMPT):
        some = monitor.recv(4096)
        if not some:
            raise CommandFailedError(f"QEMU's monitor has ended: {read!r}")
        read += some
    return read.removesuffix(PROMPT).decode(errors="replace")


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

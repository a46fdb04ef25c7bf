"""Trees of /proc and /sys/fs/cgroup as machines of other kinds have them."""

from collections.abc import Iterable, Mapping
from pathlib import Path

ID = "4f5a9b" + "0" * 58
UID = "0f8b2f3a-1c2d-4e5f-8a9b-0c1d2e3f4a5b"
PSI = "some avg10=1.50 avg60=0.50 avg300=0.00 total=9\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"

V2_MOUNTS = "35 24 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
V1_MOUNTS = (
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
)
HYBRID_MOUNTS = V1_MOUNTS + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"


def stat(pid: int, command: str, *, flags: int = 0, state: str = "S", ticks: int = 100) -> str:
    return (
        f"{pid} ({command}) {state} 1 1 1 0 -1 {flags} 98 0 0 0 {ticks} 0 0 0 20 0 3 0 {pid * 10}"
        f" 3133440 25 18446744073709551615 {'0 ' * 26}\n"
    )


def plant(
    root: Path,
    *,
    mounts: str,
    processes: Mapping[int, tuple[str, str]],
    groups: Mapping[str, Mapping[str, str]],
    pressure: bool = True,
) -> str:
    """Processes are (command, content of their cgroup file); groups are files by directory."""
    files = {
        "proc/self/mountinfo": "25 30 0:23 / /proc rw - proc proc rw\n" + mounts,
        "proc/stat": "cpu  100 0 0 900 0 0 0 0 0 0\ncpu0 100 0 0 900 0 0 0 0 0 0\nbtime 1700000000\n",
        "proc/meminfo": (
            "MemTotal: 1000 kB\nMemFree: 300 kB\nMemAvailable: 400 kB\nInactive(file): 100 kB\n"
            "SwapTotal: 0 kB\nSwapFree: 0 kB\n"
        ),
        "proc/loadavg": "0.50 0.40 0.30 1/100 200\n",
        "proc/sys/kernel/osrelease": "6.8.0-31-generic\n",
        "proc/sys/kernel/random/boot_id": "a3520fbb-5ff8-407a-9227-85a7555f8ab1\n",
        "etc/os-release": 'PRETTY_NAME="Ubuntu 24.04 LTS"\n',
    }
    if pressure:
        files |= {f"proc/pressure/{name}": PSI for name in ("cpu", "memory", "io")}
    for pid, (command, cgroup) in processes.items():
        files[f"proc/{pid}/stat"] = stat(pid, command)
        files[f"proc/{pid}/cgroup"] = cgroup
    for directory, contents in groups.items():
        for name, content in contents.items():
            files[f"sys/fs/cgroup{directory}/{name}"] = content
    _write(root, files)
    return plant_devices(
        root,
        disks={"vda": (1, 2)},
        networks={"lo": (9, 9), "eth0": (3, 4)},
        hardware=("block/vda", "net/eth0"),
    )


def _write(root: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def v2_group(cpu_us: int = 1000, memory: int = 9000) -> dict[str, str]:
    return {
        "cpu.stat": f"usage_usec {cpu_us}\nuser_usec 1\n",
        "memory.current": f"{memory}\n",
        "memory.stat": "anon 1\ninactive_file 4000\n",
        "cpu.pressure": PSI,
        "memory.pressure": PSI,
        "io.pressure": PSI,
    }


def plant_devices(
    root: Path,
    *,
    disks: Mapping[str, tuple[int, int]],
    networks: Mapping[str, tuple[int, int]],
    hardware: Iterable[str],
) -> str:
    """Disks are sectors read and written, networks bytes received and sent; *hardware* names those
    with a device behind them, by kind and name."""
    files = {
        "proc/diskstats": "".join(
            f" 8 0 {name} 1 0 {read} 0 1 0 {written} 0 0 0 0 0 0 0 0\n"
            for name, (read, written) in disks.items()
        ),
        "proc/1/net/dev": "Inter-| Receive | Transmit\n face |bytes | bytes\n"
        + "".join(
            f"{name}: {received} 1 0 0 0 0 0 0 {sent} 1 0 0 0 0 0 0\n"
            for name, (received, sent) in networks.items()
        ),
    }
    _write(root, files)
    for kind, name in (one.split("/") for one in hardware):
        above = "block" if kind == "block" else "class/net"
        (root / "sys" / above / name / "device").mkdir(parents=True)
    return str(root)

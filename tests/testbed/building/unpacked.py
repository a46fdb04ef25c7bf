"""How to run programs of Debian packages that were unpacked into a folder and never installed."""

import os
from pathlib import Path

PROGRAMS = ("usr/lib/postgresql/*/bin", "usr/sbin", "usr/bin", "sbin", "bin")
LIBRARIES = ("usr/lib/*-linux-gnu*", "lib/*-linux-gnu*", "usr/lib", "lib")
SYSTEM = f"{os.defpath}:/usr/sbin:/sbin"


def environment(root: Path) -> dict[str, str]:
    """PATH and LD_LIBRARY_PATH with *root* first; what is not in it comes from the machine.

    CNI plugins are not on a PATH: they are in usr/lib/cni of their group.
    """
    libraries = _existing(root, LIBRARIES)
    found = {"PATH": ":".join([*_existing(root, PROGRAMS), SYSTEM])}
    return found | ({"LD_LIBRARY_PATH": ":".join(libraries)} if libraries else {})


def program(root: Path, name: str) -> Path:
    """The file of a program in *root*; raises FileNotFoundError when it is not in there."""
    for folder in _existing(root, PROGRAMS):
        path = Path(folder, name)
        if path.exists():
            return path
    raise FileNotFoundError(f"no program {name} in {root}")


def _existing(root: Path, patterns: tuple[str, ...]) -> list[str]:
    found = (path for pattern in patterns for path in sorted(root.glob(pattern)))
    return [str(path) for path in found if path.is_dir()]

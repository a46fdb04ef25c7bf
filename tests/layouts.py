"""How other machines lay out their control groups: `tests/golden/layouts`, a file for each.

Each says where it is known from, where kubelet keeps its pods, and the paths of containers of five
pods: our own agent, one of each quality of service, and a static one, whose uid is a hash.
"""

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "golden" / "layouts"

PODS = {
    "mount": "a9e47001-5c1d-4e0a-9f52-7d0c1b2e3f40",
    "credentials": "a9e47001-5c1d-4e0a-9f52-7d0c1b2e3f40",
    "guaranteed": "0f8b2f3a-1c2d-4e5f-8a9b-0c1d2e3f4a5b",
    "burstable": "b7d1e9c4-02f6-4a3b-b1c8-5e6f7a8b9c0d",
    "besteffort": "c2a4f6e8-13b5-4d7f-9a1c-3e5d7f9b1a2c",
    "static": "a9b0c1d2e3f405162738495a6b7c8d9e",
}
CONTAINERS = {
    "mount": "d4536f2555836b0b1bdc536c56e6f7245a2e89dd20ff8df68ade3cf0e7f39a65",
    "credentials": "631aada47deaf488bb72eee0873a20472c8f43ff960f2188f66cc41eb3f35428",
    "guaranteed": "99401a294931bb4fb58bc21f4079b18bdf37a1894e311ec1069be547d861adb9",
    "burstable": "56fb830db6270fbd7588896e24bc56941e414c21387e74ca20fb0bdadeb247f1",
    "besteffort": "fbd537f80973c4d3a69422424b9a0122600946910557c835e36530d6e012c263",
    "static": "2053dbbf6ec7135c4e994d3464c478db6f48d3ca21052c8f44915edc96e02c39",
}


@dataclass(frozen=True, kw_only=True)
class Layout:
    known_from: str
    version: int
    """Of the hierarchy that counts memory: 1, also where version 2 is mounted beside it, or 2."""
    pods_root: str
    """What the setting `credentials.pods_root` would have to be."""
    own_namespace: bool
    """Whether an unprivileged container sees its own group as the root."""
    cgroup: str
    """/proc/PID/cgroup, with `{path}`; with `{below}` where a line leaves out what is *outer*."""
    paths: dict[str, str]
    outer: str = ""

    def text(self, path: str) -> str:
        """/proc/PID/cgroup of a process in the group at *path*, as a process of the node sees it."""
        return self.cgroup.format(path=path, below=path.removeprefix(self.outer))

    def seen_from(self, own: str, path: str) -> str:
        """The same, for a process whose cgroup namespace begins at the group *own*."""
        relative = os.path.relpath(path, own)
        return self.text("/" if relative == "." else f"/{relative}")


def layouts() -> dict[str, Layout]:
    return {
        path.stem: Layout(**tomllib.loads(path.read_text()))
        for path in sorted(FOLDER.glob("*.toml"))
    }

"""An ordinary user for tests that root runs, and the product as that user can start it.

The checkout and its interpreter may lie in a directory that only root can enter, so this user gets
a virtual environment of its own: any interpreter of the same version that it can run, with links
to copies of our sources and of the installed libraries.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import REPOSITORY

NOBODY = 65534

SOURCES = ("agent", "bpf", "common", "controller", "initcontainer")

# Half a gigabyte of tools that only maintainers need.
_LARGE = shutil.ignore_patterns(
    "playwright", "mypy*", "ruff*", "kubernetes", "clang_format", "hypothesis", "__pycache__"
)


class NoInterpreterError(Exception):
    """This machine has no Python of our version that an ordinary user can run."""


def make_environment(folder: Path) -> Path:
    """A Python in *folder*, which everybody may enter, that has what ours has installed."""
    for source in SOURCES:
        shutil.copytree(REPOSITORY / source, folder / source, ignore=_LARGE)
    libraries = folder / "libraries"
    shutil.copytree(sysconfig.get_path("purelib"), libraries, ignore=_LARGE)
    for link in libraries.glob("*.pth"):
        # Ours among them: it leads back into the checkout.
        link.unlink()
    own = folder / "venv"
    subprocess.run([_interpreter(), "-m", "venv", "--without-pip", own], check=True)
    paths = [*(folder / source for source in SOURCES), libraries]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    links = own / "lib" / version / "site-packages" / "nemutator.pth"
    links.write_text("".join(f"{path}\n" for path in paths))
    return own / "bin" / "python"


def _interpreter() -> Path:
    for candidate in _candidates():
        try:
            answer = subprocess.run(
                [candidate, "-c", "import sys; print(sys.version_info[:2])"],
                capture_output=True,
                text=True,
                check=False,
                user=NOBODY if os.geteuid() == 0 else None,
            )
        except OSError:
            continue
        if answer.stdout.strip() == str(sys.version_info[:2]):
            return candidate
    raise NoInterpreterError(f"no Python {sys.version_info[:2]} that an ordinary user can run")


def _candidates() -> Iterator[Path]:
    yield Path(os.path.realpath(sys.executable))
    yield from sorted(Path("/usr/bin").glob("python3*"))

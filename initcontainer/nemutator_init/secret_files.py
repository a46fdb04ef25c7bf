"""Writes files that an application sees all at once: the old ones or the new ones, never a mixture.

    secrets/<name>  ->  ..data/<name>        links that stay
    secrets/..data  ->  ..7h3k…/             one link that is replaced, and all of them with it
    secrets/..7h3k…/<name>                   the values

Kubelet does the same for its own volumes, so programs that watch those can watch these. One file in
place of another, as `nemutator_common.files` writes it, would not do: several would change one by one.
"""

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

DATA = "..data"
_GENERATION = ".."


def write(folder: Path, values: Mapping[str, bytes], *, mode: int) -> None:
    """Replace what is in *folder* by *values*. Raises OSError, and then nothing has changed."""
    folder.mkdir(exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=_GENERATION, dir=folder))
    try:
        for name, value in values.items():
            fd = os.open(fresh / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(value)
                os.fchmod(file.fileno(), mode)
        # Users who may read the files may enter the directory.
        fresh.chmod(0o500 | (mode & 0o044) | (mode & 0o044) >> 2)
        _link(folder, DATA, fresh.name)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    for name in values:
        if _leads_to(folder / name) != f"{DATA}/{name}":
            _link(folder, name, f"{DATA}/{name}")
    _clear(folder, keep={*values, DATA, fresh.name})


def _link(folder: Path, name: str, target: str) -> None:
    """Put a link in the place of what is there, in one step."""
    waiting = folder / f"{_GENERATION}link-{os.getpid()}"
    waiting.unlink(missing_ok=True)
    waiting.symlink_to(target)
    waiting.replace(folder / name)


def _clear(folder: Path, *, keep: set[str]) -> None:
    """Remove earlier generations, and links to what is not declared any more; nothing else."""
    for path in folder.iterdir():
        # Files of another user of the pod may refuse to be removed, which is no reason to fail.
        with contextlib.suppress(OSError):
            if path.name in keep:
                continue
            if stat.S_ISDIR(path.lstat().st_mode) and path.name.startswith(_GENERATION):
                path.chmod(0o700)
                shutil.rmtree(path)
            elif _leads_to(path) == f"{DATA}/{path.name}":
                path.unlink()


def _leads_to(path: Path) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None

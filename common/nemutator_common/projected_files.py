"""Files in a folder that a program sees all at once: the old ones or the new ones, never a mixture.

    <name>  ->  ..data/<name>        links that stay
    ..data  ->  ..7h3k…/             one link that is replaced, and all of them with it
    ..7h3k…/<name>                   the values: a generation

Kubelet does the same for its own volumes, so programs that watch those can watch these. One file in
place of another, as `nemutator_common.files` writes it, would not do: several would change one by one.

The folder is given as an open descriptor, and may belong to strangers: nothing in it is followed.
"""

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping

DATA = "..data"
_GENERATION = ".."
_MARK_ENDS = "-"

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def project(
    folder: int,
    values: Mapping[str, bytes],
    *,
    mode: int,
    owner: int | None = None,
    mark: str = "",
) -> None:
    """Replace what is in *folder* by *values*. Raises OSError, and then nothing has changed.

    The files are given to the user *owner*, whose *mode* is then for that user alone; `marked` finds the *mark*.
    """
    fresh = f"{_GENERATION}{mark}{_MARK_ENDS if mark else ''}{secrets.token_hex(8)}"
    os.mkdir(fresh, 0o700, dir_fd=folder)
    try:
        with _opened(fresh, folder) as generation:
            for name, value in values.items():
                fd = os.open(name, _CREATE, 0o600, dir_fd=generation)
                with os.fdopen(fd, "wb") as file:
                    file.write(value)
                    os.fchmod(file.fileno(), mode)
                    if owner is not None:
                        # Last, because who has given a file away may not change its mode any more.
                        os.fchown(file.fileno(), owner, -1)
            # It stays ours, so its owner's mode is not what lets theirs in; its names are no secret.
            os.fchmod(generation, 0o555 if owner is not None else directory_mode(mode))
        _link(folder, DATA, fresh)
    except BaseException:
        _remove(folder, fresh)
        raise
    for name in values:
        if _leads_to(folder, name) != f"{DATA}/{name}":
            _link(folder, name, f"{DATA}/{name}")
    _clear(folder, keep={*values, DATA, fresh})


def directory_mode(mode: int) -> int:
    """Users who may read files with this *mode* may enter their directory."""
    return 0o500 | (mode & 0o044) | (mode & 0o044) >> 2


def projected(
    folder: int, names: Iterable[str], *, most: int
) -> tuple[dict[str, bytes], int] | None:
    """What `project` has written, as far as files of these *names* are there and have no more than *most*
    bytes each, and the mode of their directory; None when nothing was written."""
    fresh = _leads_to(folder, DATA)
    if fresh is None or "/" in fresh:
        return None
    found: dict[str, bytes] = {}
    try:
        with _opened(fresh, folder) as generation:
            for name in names:
                with contextlib.suppress(OSError):
                    content = _read(name, generation, most)
                    if content is not None:
                        found[name] = content
            return found, stat.S_IMODE(os.fstat(generation).st_mode)
    except PermissionError:
        return found, _mode_of(fresh, folder)
    except OSError:
        return None


def _mode_of(name: str, folder: int) -> int:
    return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def marked(folder: int, sizes: Mapping[str, int]) -> str:
    """The mark with which `project` has written what is in *folder*; empty where there is none, or where a file
    of one of these names is not there with its size. No file has to be readable for that."""
    fresh = _leads_to(folder, DATA) or ""
    mark, ends, _ = fresh.removeprefix(_GENERATION).partition(_MARK_ENDS)
    if not ends or "/" in fresh:
        return ""
    try:
        with _opened(fresh, folder) as generation:
            for name, size in sizes.items():
                found = os.stat(name, dir_fd=generation, follow_symlinks=False)
                if not stat.S_ISREG(found.st_mode) or found.st_size != size:
                    return ""
    except OSError:
        return ""
    return mark


def _read(name: str, folder: int, most: int) -> bytes | None:
    fd = os.open(name, _READ, dir_fd=folder)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        content = file.read(most + 1)
    return content if len(content) <= most else None


def _link(folder: int, name: str, target: str) -> None:
    """Put a link in the place of what is there, in one step."""
    waiting = f"{_GENERATION}link-{secrets.token_hex(8)}"
    os.symlink(target, waiting, dir_fd=folder)
    try:
        os.replace(waiting, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(waiting, dir_fd=folder)
        raise


def _clear(folder: int, *, keep: set[str]) -> None:
    """Remove earlier generations, and links to what is not declared any more; nothing else."""
    for name in os.listdir(folder):
        # Files of another user of the pod may refuse to be removed, which is no reason to fail.
        with contextlib.suppress(OSError):
            if name in keep:
                continue
            found = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if stat.S_ISDIR(found) and name.startswith(_GENERATION):
                _remove(folder, name)
            elif _leads_to(folder, name) == f"{DATA}/{name}" or name.startswith(
                f"{_GENERATION}link-"
            ):
                os.unlink(name, dir_fd=folder)


def _remove(folder: int, name: str) -> None:
    with contextlib.suppress(OSError):
        with _opened(name, folder) as generation:
            os.fchmod(generation, 0o700)
        shutil.rmtree(name, dir_fd=folder)


def _leads_to(folder: int, name: str) -> str | None:
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError:
        return None


@contextlib.contextmanager
def _opened(name: str, folder: int) -> Iterator[int]:
    fd = os.open(name, _DIRECTORY, dir_fd=folder)
    try:
        yield fd
    finally:
        os.close(fd)

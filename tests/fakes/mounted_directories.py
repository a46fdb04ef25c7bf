"""Volumes in real directories, without the mounts that take root, and a process that is killed."""

import contextlib
import inspect
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

from nemutator_agent.publications import VolumeDirectory


@dataclass(eq=False)
class MountedDirectories:
    """What a pod sees at its target is the directory that was there when it was published, as with a
    bind mount: it stays, whatever is made at the same path later.
    """

    volumes: Path
    published: dict[str, int] = field(default_factory=dict)
    """Target to a descriptor of the directory that is seen there."""

    def is_published(self, volume_id: str, target: str) -> bool:
        return target in self.published

    def prepare(self, volume_id: str, target: str, *, group: int | None = None) -> VolumeDirectory:
        directory = self.volumes / volume_id
        (directory / "secrets").mkdir(parents=True, exist_ok=True)
        status = directory.stat()
        return VolumeDirectory(str(directory), status.st_dev, status.st_ino)

    def publish(self, volume_id: str, target: str) -> None:
        self.published[target] = os.open(self.volumes / volume_id, os.O_RDONLY | os.O_DIRECTORY)

    def unpublish(self, volume_id: str, target: str) -> None:
        if (seen := self.published.pop(target, None)) is not None:
            os.close(seen)

    def discard(self, volume_id: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self.volumes / volume_id)

    def seen(self, target: str) -> Path:
        """The directory that the pod sees."""
        return Path(f"/proc/self/fd/{self.published[target]}")

    def close(self) -> None:
        for target in list(self.published):
            self.unpublish("", target)


class KilledError(Exception):
    """The process has ended here, and nothing in it has run on."""


@dataclass
class Life:
    """One life of a process, which ends at the given step: before and after each call of a port."""

    steps: int | None = None
    """After how many steps it is killed; None: never."""
    taken: int = 0

    def step(self) -> None:
        if self.taken == self.steps:
            raise KilledError
        self.taken += 1

    def port(self, port: Any) -> Any:
        """*port*, each call of which is two steps."""
        return _Port(port, self.step)


class _Port:
    def __init__(self, port: Any, step: Callable[[], None]) -> None:
        self._port = port
        self._step = step

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        @wraps(method)
        async def waiting(*given: Any) -> Any:
            self._step()
            result = await method(*given)
            self._step()
            return result

        @wraps(method)
        def at_once(*given: Any, **named: Any) -> Any:
            self._step()
            result = method(*given, **named)
            self._step()
            return result

        return waiting if inspect.iscoroutinefunction(method) else at_once

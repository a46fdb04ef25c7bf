"""Manifests as files of the data directory, in the place of a cluster's objects.

Each object is one JSON file, which people can read and edit. Its version is a digest of its bytes, so
that an editor's change is noticed as well as ours.
"""

import errno
import hashlib
import logging
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from nemutator_common import names
from nemutator_common.files import no_space, replace_file
from nemutator_common.slow_disk import on_disk

from nemutator_controller.database.failures import REMEDIES
from nemutator_controller.journal.live_objects import (
    ChangedError,
    LiveObject,
    ObjectRefusedError,
    UnreachableError,
)
from nemutator_controller.journal.manifests import (
    LARGEST,
    ManifestError,
    body_of,
    read_manifest,
)
from nemutator_controller.mutations.decisions import Edit, Subject
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.paths import PathError

T = TypeVar("T")

log = logging.getLogger(__name__)

MOST = 2_000
DEADLINE_S = 5.0

SUFFIX = ".json"
LONGEST_STEM = 255 - len(SUFFIX)
"""Bytes of an object's name that fit into a file's: NAME_MAX of Linux' file systems."""

IN_THE_WAY = frozenset(
    {errno.EEXIST, errno.EISDIR, errno.ELOOP, errno.ENOTDIR, errno.ENOTEMPTY, errno.ENXIO}
)
"""Failures that are no fault of the disk: a person must remove their cause."""

_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_KIND = re.compile(r"[A-Z][A-Za-z]{0,62}")

NOWHERE = "_"
"""The folder of objects without a namespace; it is no valid name of a namespace."""


class FileObjects:
    """`Manifests` in files below *root*, which one process writes, and people."""

    running = False

    def __init__(self, root: Path) -> None:
        self._root = root
        self._turn = threading.Lock()

    async def get(self, subject: Subject) -> LiveObject | None:
        return await self._outside(lambda: self._get(subject))

    async def find(self, subject: Subject, decision: str) -> LiveObject | None:
        """None: a manifest always has its name."""
        return None

    async def write(self, live: LiveObject, edits: Sequence[Edit], *, resize: bool) -> LiveObject:
        return await self._outside(lambda: self._change(live, edits))

    async def rehearse(self, live: LiveObject, edits: Sequence[Edit], *, resize: bool) -> None:
        await self._outside(lambda: self._kept(live.subject, self._changed(live, edits)))

    async def evict(self, live: LiveObject) -> None:
        raise ObjectRefusedError(f"{live.subject.kind}: a manifest does not run")

    async def check(self, subject: Subject, document: Mapping[str, Any]) -> None:
        await self._outside(lambda: self._kept(subject, document))

    async def put(self, subject: Subject, document: Mapping[str, Any]) -> LiveObject:
        return await self._outside(lambda: self._put(subject, document))

    async def remove(self, subject: Subject) -> bool:
        return await self._outside(lambda: self._remove(subject))

    async def all(self, kind: str | None = None) -> Sequence[LiveObject]:
        found = []
        for each in await self._outside(lambda: list(self._each(kind))):
            if isinstance(each, LiveObject):
                found.append(each)
            else:
                log.warning("manifest_left_out", {names.ERROR: each})
        return found

    async def damaged(self, kind: str) -> Sequence[str]:
        found = await self._outside(lambda: list(self._each(kind)))
        return [str(each) for each in found if not isinstance(each, LiveObject)]

    async def _outside(self, work: Callable[[], T]) -> T:
        try:
            return await on_disk(work, self._turn, within_s=DEADLINE_S)
        except TimeoutError:
            raise UnreachableError("the disk of the data directory does not answer") from None
        except OSError as error:
            why = error.strerror or str(error)
            # The error of a renaming names two files: its target is the one that something blocks.
            where = error.filename2 or error.filename
            if error.errno in IN_THE_WAY and where is not None:
                raise _in_the_way(Path(os.fsdecode(where)), why) from error
            full = no_space(error)
            remedy = REMEDIES["full" if full else "io"].format(self._root)
            raise UnreachableError(f"{self._root}: {why}", remedy=remedy, full=full) from error

    def _get(self, subject: Subject) -> LiveObject | None:
        return _read(self._path(subject), subject)

    def _each(self, kind: str | None) -> Iterator[LiveObject | Exception]:
        """Each object, or the error that says why it cannot be read."""
        for path in sorted(self._root.glob(f"{kind or '*'}/*/*{SUFFIX}")):
            kind_there, namespace, name = path.parts[-3], path.parts[-2], path.stem
            subject = Subject(
                api_version="",
                kind=kind_there,
                namespace="" if namespace == NOWHERE else namespace,
                name=name,
            )
            try:
                live = _read(self._path(subject), subject)
            except (ObjectRefusedError, OSError) as error:
                yield error
                continue
            if live is not None:
                yield live

    def _change(self, live: LiveObject, edits: Sequence[Edit]) -> LiveObject:
        return self._put(live.subject, self._changed(live, edits))

    def _changed(self, live: LiveObject, edits: Sequence[Edit]) -> Mapping[str, Any]:
        now = self._get(live.subject)
        if now is None or now.version != live.version:
            raise ChangedError("the file was changed meanwhile")
        try:
            changed: Mapping[str, Any] = apply_edits(now.document, edits, live.subject.kind)
        except PathError as error:
            raise ObjectRefusedError(str(error)) from error
        return changed

    def _remove(self, subject: Subject) -> bool:
        path = self._path(subject)
        if self._get(subject) is None:
            return False
        path.unlink(missing_ok=True)
        return True

    def _put(self, subject: Subject, document: Mapping[str, Any]) -> LiveObject:
        path, body = self._kept(subject, document)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, body, durable=True)
        return LiveObject(subject=subject, document=document, version=_version(body))

    def _kept(self, subject: Subject, document: Mapping[str, Any]) -> tuple[Path, bytes]:
        """The file and the bytes of *document*; raises `ObjectRefusedError` when it cannot be kept."""
        path = self._path(subject)
        try:
            body = body_of(document)
        except ManifestError as error:
            raise ObjectRefusedError(f"{subject.kind} {subject.name}: {error}") from error
        if not path.exists() and sum(1 for _ in self._root.glob(f"*/*/*{SUFFIX}")) >= MOST:
            raise ObjectRefusedError(f"there are {MOST} objects already: remove some files first")
        return path, body

    def _path(self, subject: Subject) -> Path:
        """Its file. The names come from a manifest, and must not lead out of the directory."""
        if not _KIND.fullmatch(subject.kind):
            raise ObjectRefusedError(f"kind {subject.kind[:80]!r}: expected a word like Deployment")
        namespaces = (("namespace", subject.namespace),) if subject.namespace else ()
        for what, name in (*namespaces, ("name", subject.name)):
            if not _NAME.fullmatch(name) or ".." in name:
                raise ObjectRefusedError(
                    f"{what} {name[:80]!r}: expected small letters, digits, dots and dashes"
                )
            if len(name) > LONGEST_STEM:
                raise ObjectRefusedError(
                    f"{what} {name[:40]}…: longer than {LONGEST_STEM} characters: what is applied"
                    f" here is kept as a file of that name and {SUFFIX}"
                )
        folder = self._root / subject.kind / (subject.namespace or NOWHERE)
        return folder / f"{subject.name}{SUFFIX}"


def _read(path: Path, subject: Subject) -> LiveObject | None:
    try:
        # A link can lead anywhere, and reading a pipe may never end.
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise _in_the_way(path, "it is not a file")
        # `fdopen` comes late, because it refuses a directory and leaves its descriptor open.
        with os.fdopen(fd, "rb", closefd=False) as file:
            body = file.read(LARGEST + 1)
    finally:
        os.close(fd)
    try:
        document = read_manifest(body)
        if not isinstance(document, dict):
            raise ManifestError(("the document: expected an object",))
    except ManifestError as error:
        raise ObjectRefusedError(
            f"{subject.kind} {subject.name}: its file is damaged ({_place(path)}): {error}"
        ) from error
    version = document.get("apiVersion")
    named = replace(subject, api_version=version if isinstance(version, str) else "")
    return LiveObject(subject=named, document=document, version=_version(body))


def _in_the_way(path: Path, why: str) -> ObjectRefusedError:
    return ObjectRefusedError(f"{_place(path)}: {why}: move away what is in its place")


def _place(path: Path) -> str:
    """Its path within the data directory."""
    return "/".join(path.parts[-4:]).encode(errors="backslashreplace").decode()


def _version(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()

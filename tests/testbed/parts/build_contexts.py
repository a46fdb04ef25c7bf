"""What of a folder a Dockerfile is built from: all of it, but what its .dockerignore names.

The same set is hashed and given to the builder, so an image that is kept cannot be of another one.
Rules: https://docs.docker.com/build/concepts/context/#dockerignore-files
"""

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

IGNORE = ".dockerignore"


@dataclass(frozen=True, slots=True)
class Rule:
    """A line of .dockerignore."""

    pattern: re.Pattern[str]
    includes: bool
    """It takes back what an earlier line has excluded."""

    def names(self, path: str) -> bool:
        """Whether it is about *path* or a folder above it."""
        parts = path.split("/")
        return any(
            self.pattern.fullmatch("/".join(parts[:length])) for length in range(1, len(parts) + 1)
        )


def rules(lines: str) -> tuple[Rule, ...]:
    """The rules of a .dockerignore."""
    written = (line.strip() for line in lines.splitlines())
    return tuple(_rule(line) for line in written if line and not line.startswith("#"))


def is_excluded(path: str, among: Sequence[Rule]) -> bool:
    """Whether *path*, relative to the folder, is left out: the last rule about it decides."""
    return next((not rule.includes for rule in reversed(among) if rule.names(path)), False)


def files(folder: Path) -> list[Path]:
    """Files and links of the context, relative to *folder*, in a fixed order.

    Empty folders are left out: git knows none either.
    """
    ignore = folder / IGNORE
    among = rules(ignore.read_text()) if ignore.exists() else ()
    return sorted(_below(folder, folder, among))


def fingerprint(folder: Path) -> bytes:
    """Changes with the name, kind, mode or content of any file of the context."""
    digest = hashlib.sha256()
    for relative in files(folder):
        path = folder / relative
        if path.is_symlink():
            kind, content = "link", os.readlink(path).encode()
        else:
            kind = f"{stat.S_IMODE(path.stat().st_mode):o}"
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").digest()
        for part in (str(relative).encode(), kind.encode(), content):
            digest.update(f"{len(part)}\0".encode() + part)
    return digest.digest()


def copy(folder: Path, into: Path) -> None:
    """Copy the context, modes kept and links as they are, into the empty folder *into*."""
    for relative in files(folder):
        target = into / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(folder / relative, target, follow_symlinks=False)


def _below(folder: Path, top: Path, among: Sequence[Rule]) -> Iterator[Path]:
    # Without a rule that takes back, nothing of a folder that is left out needs to be looked at:
    # a working copy of this repository has tens of thousands of such files.
    final = not any(rule.includes for rule in among)
    with os.scandir(folder) as found:
        for entry in found:
            path = Path(entry.path)
            relative = path.relative_to(top)
            excluded = is_excluded(relative.as_posix(), among)
            if entry.is_dir(follow_symlinks=False):
                if not (excluded and final):
                    yield from _below(path, top, among)
            elif not excluded:
                yield relative


def _rule(line: str) -> Rule:
    includes = line.startswith("!")
    words = line.removeprefix("!").strip().strip("/").removeprefix("./")
    return Rule(re.compile(_expression(words)), includes)


def _expression(pattern: str) -> str:
    translated = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    tokens = re.findall(r"\*\*/|\*\*|\*|\?|\[[^\]]+\]|\\?.", pattern)
    return "".join(translated.get(token) or _literal(token) for token in tokens)


def _literal(token: str) -> str:
    if len(token) > 2 and token.startswith("["):
        return token
    return re.escape(token.removeprefix("\\") or token)

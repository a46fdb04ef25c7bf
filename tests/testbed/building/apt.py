"""apt-get with lists and state of its own: it sees what the machine may get, and changes nothing.

The machine's sources, keys and proxies are used as they are; root is not needed.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.building import apt_answers, commands
from tests.testbed.building.apt_answers import Package
from tests.testbed.building.cache import MissingPartError
from tests.testbed.building.commands import CommandError

# Read after the machine's own settings. Hooks of an update would write elsewhere, and what a
# desktop or apt-file wants beside the package lists is large.
SETTINGS = """\
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
Acquire::IndexTargets::deb-src::Sources::DefaultEnabled "false";
"""


@dataclass(frozen=True, slots=True)
class Archive:
    """Lists that the machine itself does not have: of another release or architecture of Debian."""

    mirror: str
    suite: str
    architecture: str

    @property
    def source(self) -> str:
        keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
        return (
            f"deb [arch={self.architecture} signed-by={keyring}] {self.mirror} {self.suite} main\n"
        )


class Apt:
    """The package lists of this machine, or of *archive* alone, as of now, kept in *folder*."""

    def __init__(self, folder: Path, archive: Archive | None = None) -> None:
        self._folder = folder
        self._archive = archive
        self._log = folder / "apt.log"
        # Answers are parsed, so they are asked for in English.
        self._environment = os.environ | {"LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
        self._settings = folder / "apt.conf"
        self._options = [
            "--config-file", str(self._settings),
            "-o", f"Dir::State={folder / 'state'}",
            "-o", f"Dir::Cache={folder / 'cache'}",
            "-o", "Dir::State::status=/var/lib/dpkg/status",
            # Root fetches as itself: the user _apt cannot write to this folder.
            "-o", "APT::Sandbox::User=root",
        ]  # fmt: skip
        if archive is not None:
            # What the machine has installed says nothing about what another one needs.
            self._options += [
                "-o", f"Dir::Etc::SourceList={folder / 'sources.list'}",
                "-o", "Dir::Etc::SourceParts=/dev/null",
                "-o", "Dir::State::status=/dev/null",
                "-o", f"APT::Architecture={archive.architecture}",
                "-o", f"APT::Architectures={archive.architecture}",
            ]  # fmt: skip

    def update(self) -> None:
        """Fetch the lists. An archive that is away is no failure as long as the others will do."""
        self._settings.write_text(SETTINGS)
        if self._archive is not None:
            (self._folder / "sources.list").write_text(self._archive.source)
        for name in ("state/lists/partial", "cache/archives/partial"):
            (self._folder / name).mkdir(parents=True)
        with contextlib.suppress(CommandError):  # its words are in the log, and told by `_read`
            self._run("apt-get", "-q", "update")

    def closure(self, names: Sequence[str]) -> tuple[Package, ...]:
        """The packages of these names, and what they need and this machine does not have.

        In a name, `*` is the version that the package without it depends on.
        """
        named = [self._resolved(name) for name in names]
        # As if they were not there: what is installed here is to be unpacked all the same.
        plan = apt_answers.planned(
            self._read(
                "apt-get", "install", "--simulate", "--reinstall", "--no-install-recommends",
                "--allow-downgrades", "--allow-change-held-packages", *named,
            )
        )  # fmt: skip
        if missing := apt_answers.lacking(plan, named):
            raise MissingPartError(f"apt plans nothing for {', '.join(missing)}")
        return plan

    def download(self, packages: Sequence[Package], folder: Path) -> None:
        """The files of *packages*, checked by apt against the signed lists, into *folder*."""
        self._run("apt-get", "-q", "download", *map(str, packages), folder=folder)

    def mirror(self, codename: str) -> str:
        """The archive that this machine itself has its system from."""
        targets = self._read(
            "apt-get", "indextargets", "--format", apt_answers.TARGET_FORMAT, "Created-By: Packages"
        )
        try:
            return apt_answers.mirror(targets, codename)
        except LookupError as missing:
            raise MissingPartError(str(missing)) from missing

    def first_dependency(self, name: str) -> Package:
        """What a package stands for that holds nothing itself: the newest kernel of a version."""
        depends = self._read("apt-cache", "depends", "--important", name)
        try:
            wanted = apt_answers.first_dependency(depends, name)
        except LookupError as missing:
            raise MissingPartError(str(missing)) from missing
        return self.newest(wanted)

    def newest(self, name: str) -> Package:
        """The package of that name alone, without what it needs."""
        return next(package for package in self.closure([name]) if package.name == name)

    def _resolved(self, name: str) -> str:
        if "*" not in name:
            return name
        # postgresql-client-* is of the version of postgresql-client, and that of postgresql.
        depends = self._read("apt-cache", "depends", "--important", name.removesuffix("-*"))
        try:
            return name.replace("*", apt_answers.recommended_version(depends, name))
        except LookupError as missing:
            raise MissingPartError(str(missing)) from missing

    def _run(self, program: str, *arguments: str, folder: Path | None = None) -> None:
        command = [program, *arguments, *self._options]
        commands.run(command, log=self._log, environment=self._environment, folder=folder)

    def _read(self, program: str, *arguments: str) -> str:
        command = [program, *arguments, *self._options]
        return commands.read(command, log=self._log, environment=self._environment)


@contextlib.contextmanager
def updated(folder: Path, archive: Archive | None = None) -> Iterator[Apt]:
    """An Apt with fresh lists; what apt refuses then is a part that is missing."""
    apt = Apt(folder, archive)
    try:
        apt.update()
        yield apt
    except CommandError as failed:
        raise MissingPartError(
            f"{failed}\n  remedy: see that the archives in apt's sources can be reached"
        ) from failed

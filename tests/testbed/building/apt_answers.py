"""What apt says, understood: pure, because what it says differs from machine to machine."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

# Inst NAME [installed version] (new version, its archives [architecture]) [what waits for it]
PLANNED = re.compile(r"^Inst (\S+)(?: \[[^\]]*\])? \((\S+) [^()]*\)", re.MULTILINE)
# What Debian's policy allows. It begins with no dash: these words become arguments of apt-get.
NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+(?::[a-z0-9-]+)?")
VERSION = re.compile(r"[0-9][A-Za-z0-9.+:~-]*")

# debootstrap takes no other kind; a password in it would be seen in the list of processes.
PLAIN_ARCHIVE = re.compile(r"(?:https?|file)://[^@\s]+")

# The line format of `apt-get indextargets` that mirror() reads.
TARGET_FORMAT = "$(REPO_URI) $(CODENAME) $(RELEASE) $(COMPONENT)"


@dataclass(frozen=True, slots=True)
class Package:
    """One version of a package, as `apt-get download` takes it."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name}={self.version}"


def planned(simulation: str) -> tuple[Package, ...]:
    """The packages that `install --simulate` would unpack, upgrades of installed ones included.

    What it would remove is passed over: nothing is installed, so nothing is removed.
    """
    found = (Package(name, version) for name, version in PLANNED.findall(simulation))
    return tuple(p for p in found if NAME.fullmatch(p.name) and VERSION.fullmatch(p.version))


def lacking(plan: Iterable[Package], wanted: Iterable[str]) -> tuple[str, ...]:
    """Those of the *wanted* names that the plan does not bring, in any architecture."""
    brought = {package.name.partition(":")[0] for package in plan}
    return tuple(name for name in wanted if name not in brought)


def recommended_version(depends: str, pattern: str) -> str:
    """What `*` in *pattern* stands for, from the dependencies of the package without it.

    postgresql-* is postgresql-15 where postgresql depends on that; LookupError where on none.
    """
    number = re.escape(pattern).replace(r"\*", r"([0-9][0-9.]*)")
    if found := re.search(rf"^\s*\|?Depends: {number}$", depends, re.MULTILINE):
        return found[1]
    raise LookupError(f"apt knows no version of {pattern}")


def first_dependency(depends: str, name: str) -> str:
    """The package that `apt-cache depends` names first; LookupError when *name* needs none."""
    if found := re.search(rf"^\s*Depends: ({NAME.pattern})$", depends, re.MULTILINE):
        return found[1]
    raise LookupError(f"apt knows nothing that {name} stands for")


def mirror(targets: str, codename: str) -> str:
    """Where the machine itself gets the packages of *codename*; LookupError when that is nowhere.

    From the lines of `apt-get indextargets` in TARGET_FORMAT.
    """
    for line in targets.splitlines():
        words = line.split()
        if len(words) != 4 or words[3] != "main" or codename not in words[1:3]:
            continue
        if PLAIN_ARCHIVE.fullmatch(words[0]):
            return words[0]
    raise LookupError(f"apt names no plain archive with the main packages of {codename}")

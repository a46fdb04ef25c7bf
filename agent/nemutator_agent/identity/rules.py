"""Rules for who may have a secret where there are no pods: its owner writes them, and they are kept with it."""

import re
from dataclasses import dataclass

EXPECTED = "expected uid=1000, exe=/usr/bin/app, cgroup=/system.slice/app.service, or some with ,"

LARGEST_UID = 2**32 - 2
"""The next number means that there is no user."""

LONGEST = 4096

_PARTS = re.compile(r",(?=(?:uid|exe|cgroup)=)")
_CGROUP = re.compile(r"(?:(?P<hierarchy>[a-z0-9_=.-]+):)?(?P<path>/.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerRule:
    """All that is given must hold. `str()` writes what `parse_rule` reads."""

    uid: int | None = None
    executable: str | None = None
    """The program itself, which for a script is its interpreter. Users who may debug a program, as its
    own user may, can speak as it: this narrows a rule by uid, and does not replace one."""
    cgroup: str | None = None
    """This group and those below it: a path in the hierarchy of version 2 (of systemd, where there is no
    version 2), or one with a controller of version 1 in front: `memory:/path`."""

    def __str__(self) -> str:
        parts = {"uid": self.uid, "exe": self.executable, "cgroup": self.cgroup}
        return ",".join(f"{word}={value}" for word, value in parts.items() if value is not None)


def parse_rule(text: str) -> CallerRule:
    """The rule, in which each part is given at most once; a ValueError says what was expected."""
    if len(text) > LONGEST or not text.isprintable():
        raise ValueError(EXPECTED)
    given: dict[str, str] = {}
    for part in _PARTS.split(text):
        word, mark, value = part.partition("=")
        if not mark or not value or word not in {"uid", "exe", "cgroup"} or word in given:
            raise ValueError(EXPECTED)
        given[word] = value
    return CallerRule(
        uid=_uid(given["uid"]) if "uid" in given else None,
        executable=_executable(given["exe"]) if "exe" in given else None,
        cgroup=_cgroup(given["cgroup"]) if "cgroup" in given else None,
    )


def split_cgroup(cgroup: str) -> tuple[str | None, str]:
    """Hierarchy and path of a rule's cgroup; None means the hierarchy that names services."""
    match = _CGROUP.fullmatch(cgroup)
    if match is None:
        raise ValueError("expected an absolute path behind cgroup=")
    return match["hierarchy"], match["path"]


def _uid(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,10}", text) or int(text) > LARGEST_UID:
        raise ValueError(f"expected a number from 0 to {LARGEST_UID} behind uid=")
    return int(text)


def _executable(text: str) -> str:
    if not text.startswith("/") or {".", "..", ""} & set(text[1:].split("/")):
        raise ValueError("expected the absolute path of a program behind exe=")
    return text


def _cgroup(text: str) -> str:
    _, path = split_cgroup(text)
    # Every process of the machine is below the root: that would be no rule.
    if path == "/" or {".", "..", ""} & set(path[1:].split("/")):
        raise ValueError("expected the path of a group below the root behind cgroup=")
    return text

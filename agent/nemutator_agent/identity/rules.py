"""Who may have what where there are no pods: written by the owner of a secret, kept with it."""

import re
from dataclasses import dataclass

EXPECTED = "expected uid=1000, exe=/usr/bin/app, cgroup=/system.slice/app.service, or some with ,"

LARGEST_UID = 2**32 - 2
"""The next one means that there is none."""

LONGEST = 4096

_PARTS = re.compile(r",(?=(?:uid|exe|cgroup)=)")
_CGROUP = re.compile(r"(?:(?P<hierarchy>[a-z0-9_=.-]+):)?(?P<path>/.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerRule:
    """All that is given must hold. `str()` writes what `parse_rule` reads."""

    uid: int | None = None
    executable: str | None = None
    """The program itself; of a script that is its interpreter. Whoever may debug a program, its own
    user always, can speak as it: this narrows a rule by uid, it does not replace one."""
    cgroup: str | None = None
    """This group and those below it: a path in version 2's hierarchy (in systemd's where there is
    none), or with a controller of version 1 in front: `memory:/path`."""

    def __str__(self) -> str:
        parts = {"uid": self.uid, "exe": self.executable, "cgroup": self.cgroup}
        return ",".join(f"{word}={value}" for word, value in parts.items() if value is not None)


def parse_rule(text: str) -> CallerRule:
    """A ValueError says what was expected instead: each part may be given once, and one must be."""
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
    """Hierarchy and path of a rule's cgroup; no hierarchy: whichever names services there."""
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
    # The root is every process of the machine: no rule at all.
    if path == "/" or {".", "..", ""} & set(path[1:].split("/")):
        raise ValueError("expected the path of a group below the root behind cgroup=")
    return text

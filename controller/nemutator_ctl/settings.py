"""Settings of `nemutator up`; the other commands read the shared ones through it."""

import enum
from dataclasses import dataclass
from typing import ClassVar

from nemutator_common import names
from nemutator_common.settings import LogLevel, Shared, setting


class Privileges(enum.StrEnum):
    ASK = "ask"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpSettings(Shared):
    role: ClassVar[str] = names.UP

    console: str | None = setting(
        None, "Address of the console; without it the brain's own setting counts."
    )
    privileges: Privileges = setting(
        Privileges.ASK,
        "Whether an ordinary user's `observe` is raised with sudo: `ask` (on a terminal only), "
        "`always` or `never`. Nothing else is ever raised.",
    )
    sample: str | None = setting(
        None,
        "A program that is run beside everything, so that there is something to look at: "
        "`make run` names `scripts/sample`.",
    )
    children_log_level: LogLevel = setting(
        LogLevel.WARNING, "Least serious lines that the processes under `up` log."
    )

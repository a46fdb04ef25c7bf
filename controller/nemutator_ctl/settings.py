"""Settings of `nemutator up`, and of the commands that ask a brain."""

import enum
from dataclasses import dataclass
from pathlib import Path
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CtlSettings(Shared):
    role: ClassVar[str] = names.CTL

    brain: str | None = setting(
        None,
        "The brain that the commands ask, at `https://HOST:PORT`; without it, that of the data "
        "directory. A `--data-dir` on the command line wins over one that only the environment or "
        "the file names.",
    )
    brain_token_file: Path | None = setting(
        None, "File with the caller's token for a brain at `https://…`; it can be a pipe."
    )
    brain_ca_file: Path | None = setting(
        None,
        "Certificates of the authority that signs for a brain at `https://…`; without it, the "
        "authorities that this machine trusts.",
    )
    context: str | None = setting(
        None,
        "Context of the kubeconfig by whose API server the brain is asked, for whom a port of its pod "
        "is forwarded; empty: the current one. What `kubectl nemutator` does.",
    )
    kubeconfig: Path | None = setting(
        None, "That kubeconfig; without it, where kubectl looks (`KUBECONFIG`, `~/.kube/config`)."
    )
    account: str = setting(
        "",
        "Service account, `NAMESPACE/NAME`, as which the brain is asked then, where the kubeconfig has "
        "no token: a token of it is made for ten minutes.",
    )
    installation: str = setting("nemutator", "Namespace of nemutator in that cluster.")

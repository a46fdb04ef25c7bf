"""Settings of the process that serves credentials."""

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from nemutator_common import names
from nemutator_common.settings import between, setting
from nemutator_common.shipping.settings import CallsBrain

from nemutator_agent.settings.common_checks import absolute_or_empty, node, reported_name

_URL = re.compile(r"https?://([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?/?")
_MOUNT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")


def _url(value: str) -> str | None:
    if not value or _URL.fullmatch(value):
        return None
    return "expected https://host[:port] or http://host[:port], and no path"


def _mount(value: str) -> str | None:
    plain = not value or _MOUNT.fullmatch(value)
    return None if plain else "expected a path like kubernetes or clusters/one"


def _socket(value: str) -> str | None:
    return None if not value or value.startswith("/") else "expected an absolute path"


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialsSettings(CallsBrain):
    """`nemutator-agent credentials`."""

    role: ClassVar[str] = names.CREDENTIALS

    node: str = setting(
        "", "Name of this machine in audit records; empty: its host name.", check=node
    )
    audit_key_file: str = setting(
        "",
        "File with the key of the installation for digests of paths in audit records, the same as the "
        "brain's; empty: a key of this machine's own, and nobody can ask who read a path.",
        check=absolute_or_empty,
    )
    vault_address: str = setting(
        "",
        "URL of Vault, like `https://vault.example:8200`; empty: this machine's own encrypted "
        "file of secrets alone, for one socket and all callers.",
        check=_url,
    )
    vault_ca_file: str = setting(
        "", "PEM file with the authorities that sign Vault's certificate; empty: the system's."
    )
    vault_auth_method: Literal["kubernetes", "jwt", "approle", "token"] = setting(
        "kubernetes",
        "How Vault knows the tokens of pods: it asks the API server (kubernetes), or has its keys (jwt). "
        "On a machine without Kubernetes, what the agent itself logs in with: an AppRole (approle), or a "
        "token of yours (token).",
    )
    vault_auth_mount: str = setting(
        "",
        "Where that method is mounted in Vault, below `auth/`; empty: under its own name.",
        check=_mount,
    )
    vault_role_id_file: str = setting(
        "",
        "File with the role id of an AppRole, which only root or the agent's user may write. It is read at "
        "start.",
        check=absolute_or_empty,
    )
    vault_secret_id_file: str = setting(
        "",
        "File with its secret id, which nobody else may read. It is read for each login.",
        check=absolute_or_empty,
    )
    vault_secret_id_wrapping_path: str = setting(
        "",
        "Where the secret id was made, if it is a wrapped one, like `auth/approle/role/shop/secret-id`: the "
        "file then has a wrapping token, which is unwrapped once, and only if it was made there.",
        check=_mount,
    )
    vault_token_file: str = setting(
        "",
        "File with the token of the method token, which nobody else may read. It is renewed, and never "
        "revoked; the file is read again when the token has ended.",
        check=absolute_or_empty,
    )
    vault_namespace: str = setting("", "Vault Enterprise's or OpenBao's namespace.")
    pods_root: str = setting(
        "",
        "Control group below which kubelet keeps all pods, like `/kubepods.slice` or "
        "`memory:/kubepods`; empty: found from this process's own.",
    )
    agent_socket: str = setting(
        "",
        "Without Kubernetes, the socket of all callers of this machine; empty: `agent.sock` in the data "
        "directory, which no other user may enter.",
        check=_socket,
    )
    files_dir: str = setting(
        "",
        "Without Kubernetes, the directory of secrets that are kept in files, too; empty: `files` in the "
        "data directory, which no other user may enter. What lies below /run is in memory.",
        check=absolute_or_empty,
    )
    fresh_s: float = setting(
        60.0,
        "Seconds for which a secret that was read is given without asking Vault again.",
        check=between(0, 300),
    )
    stale_s: float = setting(
        600.0,
        "Seconds for which a secret that was read is given, marked as stale, while Vault is sealed, "
        "overloaded or does not answer; never after a denial.",
        check=between(0, 3600),
    )
    check_s: float = setting(
        60.0,
        "Seconds after which what a pod has read is read again, to see whether it has changed: once "
        "for all pods of the node that have read it.",
        check=between(1, 3600),
    )
    checks_per_minute: float = setting(
        60.0,
        "The most of these readings in a minute, for the whole node; with more paths than that each "
        "waits longer. Pods that have read what has changed read it once more each.",
        check=between(1, 6000),
    )
    vault_call_s: float = setting(
        5.0, "Deadline of one call to Vault, in seconds.", check=between(0.1, 60)
    )
    orphans_s: float = setting(
        120.0,
        "Seconds after the start for which the Vault tokens of an earlier run wait for their pods to "
        "be published again, and are then revoked. Tokens of pods of which neither a process nor the "
        "volume is left are revoked at once.",
        check=between(1, 3600),
    )
    requests_per_s: float = setting(
        50.0,
        "Requests per second of one pod (of one uid, without Kubernetes); twice as many at once.",
        check=between(1, 10_000),
    )

    @property
    def serves_pods(self) -> bool:
        return bool(self.vault_address) and self.vault_auth_method in ("kubernetes", "jwt")

    @property
    def auth_mount(self) -> str:
        return self.vault_auth_mount or self.vault_auth_method

    def name_of(self, host: str) -> str:
        """What the machine called *host* is in audit records; a brain refuses other names."""
        return reported_name(self.node, host)

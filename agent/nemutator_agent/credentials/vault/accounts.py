"""The accounts in whose names Vault is asked."""

from dataclasses import dataclass, field
from typing import NamedTuple

from nemutator_agent.publications import PublishedPod


class AccountKey(NamedTuple):
    """What tells apart those that need a token each."""

    pod_uid: str
    role: str
    vault_namespace: str


@dataclass(frozen=True, slots=True)
class Account:
    """A pod with the role that it logs in with, or a machine without pods: each has one token of Vault."""

    pod: PublishedPod
    role: str
    home: str = field(default="", compare=False)
    """The directory of the pod's volume, or of one of its volumes, which is removed with the pod."""
    vault_namespace: str = ""
    """Vault's own, in which it logs in and reads; empty: that of the settings."""

    @property
    def key(self) -> AccountKey:
        return AccountKey(self.pod.uid, self.role, self.vault_namespace)

    def located(self, path: str) -> str:
        """*path* with the namespace that the pod has named in front, as Vault takes it, too."""
        return f"{self.vault_namespace}/{path}" if self.vault_namespace else path


def account(
    pod: PublishedPod, role: str | None, *, home: str = "", vault_namespace: str | None = None
) -> Account:
    """An account with the role that the pod names, or else with NAMESPACE.SERVICEACCOUNT.

    The name of a namespace has no dot, so no two accounts share such a role.
    """
    role = role or f"{pod.namespace}.{pod.service_account}"
    return Account(pod, role, home, vault_namespace or "")


MACHINE = PublishedPod(namespace="", name="", uid="", service_account="")
"""Stands for a machine without Kubernetes, where all callers have one account."""


def machine_account(role: str) -> Account:
    """*role* tells apart what the machine logs in with: an earlier run's token belongs to its own."""
    return Account(MACHINE, role)

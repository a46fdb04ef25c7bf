"""The accounts in whose names Vault is asked."""

from dataclasses import dataclass, field

from nemutator_agent.publications import PublishedPod


@dataclass(frozen=True, slots=True)
class Account:
    """A pod with the role that it logs in with, or a machine without pods: each has one token of Vault."""

    pod: PublishedPod
    role: str
    home: str = field(default="", compare=False)
    """The directory of the pod's volume, or of one of its volumes, which is removed with the pod."""

    @property
    def key(self) -> tuple[str, str]:
        return self.pod.uid, self.role


def account(pod: PublishedPod, role: str | None, *, home: str = "") -> Account:
    """An account with the role that the pod names, or else with NAMESPACE.SERVICEACCOUNT.

    The name of a namespace has no dot, so no two accounts share such a role.
    """
    return Account(pod, role or f"{pod.namespace}.{pod.service_account}", home)


MACHINE = PublishedPod(namespace="", name="", uid="", service_account="")
"""Stands for a machine without Kubernetes, where all callers have one account."""


def machine_account(role: str) -> Account:
    """*role* tells apart what the machine logs in with: an earlier run's token belongs to its own."""
    return Account(MACHINE, role)

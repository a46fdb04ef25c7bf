"""`credentials` in a cluster: a socket for each pod, with Vault behind them."""

import contextlib
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

from nemutator_common.declarations import DeclarationError, Declarations
from nemutator_common.errors import ExitCode, OperatorError

from nemutator_agent.app.credentials_parts import CredentialsParts, private_listener
from nemutator_agent.app.credentials_vault import ask_vault
from nemutator_agent.credentials.machine.files import digest_key
from nemutator_agent.credentials.pods.budgets import PodBudgets
from nemutator_agent.credentials.pods.handler import PodHandler
from nemutator_agent.credentials.pods.publications_api import PublicationsApi
from nemutator_agent.credentials.pods.publishing import PodPublisher
from nemutator_agent.credentials.pods.served_values import ServedValuesFolder
from nemutator_agent.credentials.pods.sockets import PodSockets
from nemutator_agent.credentials.rotation.checking import RotationChecks
from nemutator_agent.credentials.rotation.schedule import CheckSchedule
from nemutator_agent.credentials.signals.pod_processes import PodProcesses
from nemutator_agent.credentials.value_digests import ValueDigests
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.identity.attestors import LearningPodAttestor


@contextlib.asynccontextmanager
async def with_vault(parts: CredentialsParts) -> AsyncIterator[None]:
    """Serve a socket for each pod that mount publishes, with Vault behind them: in a cluster."""
    process, settings = parts.process, parts.settings
    attestor = _attestor(settings.pods_root)
    vault = ask_vault(process, settings, parts.audit)
    rotation = RotationChecks(
        vault.broker,
        CheckSchedule(per_minute=settings.checks_per_minute, interval_s=settings.check_s),
        process,
    )
    budgets = PodBudgets(settings.requests_per_s)
    digests = ValueDigests(digest_key(process.directory.root / "values.key"))
    containers = PodProcesses(attestor)

    served = ServedValuesFolder(process.directory.root, digests, process)

    def handler(
        session: VaultSession, declarations: Declarations | DeclarationError, volume: str
    ) -> PodHandler:
        return PodHandler(
            session,
            declarations,
            process,
            broker=vault.broker,
            attestor=attestor,
            audit=parts.audit,
            node=parts.node,
            auth_mount=settings.auth_mount,
            namespace=settings.vault_namespace,
            budget=budgets.of(session.account.pod.uid),
            follow=rotation.follow,
            containers=containers,
            served=served.of(volume),
        )

    publisher = PodPublisher(
        vault.broker,
        PodSockets(process, parts.peers, digests, rate=settings.requests_per_s).open,
        handler,
        process,
        served.forget,
    )
    server = private_listener(
        process,
        PublicationsApi(publisher, attestor.learn, instance=secrets.token_hex(16)).routes(),
        middlewares=(),
    )
    await server.bind()
    process.supervisor.add("follow changes", rotation.run)
    process.supervisor.add("serve pods", publisher.run)
    process.supervisor.add("serve mount", server.run)
    try:
        yield
    finally:
        server.close()
        vault.close()


def _attestor(setting: str) -> LearningPodAttestor:
    try:
        return LearningPodAttestor(Path("/proc/self/cgroup").read_text(), setting)
    except (OSError, ValueError) as error:
        raise OperatorError(
            f"kubelet's control group: {error}",
            remedy="name it with credentials.pods_root, as `/kubepods.slice` or `memory:/kubepods`",
            code=ExitCode.SETTINGS,
        ) from error

"""What the brain has in a cluster only: pods and their owners, certificates, people."""

import contextlib
import secrets
from collections.abc import AsyncIterator, Mapping
from functools import partial

from nemutator_common.data_directory_files import renew_link_token
from nemutator_common.process import Process

from nemutator_controller.access.bearers import Accounts, account
from nemutator_controller.access.key_reading import SigningKeys
from nemutator_controller.access.proving import ProvenCallers
from nemutator_controller.access.token_reviews import ReviewedCallers
from nemutator_controller.app.ageing_adapters import AgeingNewsOnPods, PodsWithAgeing, WindowOwners
from nemutator_controller.app.cluster_adapters import (
    AgentPods,
    DeclaredPods,
    ImagesOfDeclaringPods,
    StampedPodChanges,
)
from nemutator_controller.app.eviction_adapters import (
    KubeEvictions,
    PodsToEvict,
    PodsToRestart,
    ReviewedEvictionRights,
)
from nemutator_controller.app.leadership import Leadership
from nemutator_controller.app.parts import Task, TaskPhase
from nemutator_controller.app.profile_adapters import NamedPods, PodsThatAsk, ResultsOnPods
from nemutator_controller.app.sizing_adapters import (
    KilledByKubelet,
    MemoryOfKilled,
    OwnersOfUse,
    RequestedNow,
)
from nemutator_controller.cluster.inventory_watching import ObjectsWatch
from nemutator_controller.cluster.watching import ClusterWatch
from nemutator_controller.journal.revisions import revision_of
from nemutator_controller.kube.announcing import Announcer
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.incluster import InCluster
from nemutator_controller.kube.informing import Informer, NotSyncedError
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.resources import JOBS, NAMESPACES, WORKLOADS
from nemutator_controller.kube.reviewing import Reviewer
from nemutator_controller.kube.transport import HttpTransport
from nemutator_controller.kube.workload_objects import WatchedWorkload
from nemutator_controller.kube.writing import Writer
from nemutator_controller.policies.objects import MUTATION_POLICIES
from nemutator_controller.policies.rule_writing import TemplateRuleWriter
from nemutator_controller.policies.season_objects import SEASON_POLICIES
from nemutator_controller.policies.status_writer import PolicyStatusWriter
from nemutator_controller.registration.installation import (
    OVERSELL_WEBHOOKS,
    WEBHOOKS,
    KubeInstallation,
)
from nemutator_controller.registration.leaf_files import LeafFiles
from nemutator_controller.registration.registering import Registrar, Servers
from nemutator_controller.scaling.objects import FORECAST_SCALERS
from nemutator_controller.settings.brain import BrainSettings
from nemutator_controller.updating.objects import SIZING_POLICIES

ALONE = frozenset(
    {
        "follow policies",
        "policies' statuses",
        "follow policies of templates",
        "check template rules",
        "template rules",
    }
)
"""Of the tasks here: what several brains would write over each other."""


class Cluster:
    """The client, what is watched and written with it, and the adapters for features."""

    def __init__(
        self,
        settings: BrainSettings,
        transport: Transport,
        leaf: LeafFiles,
        process: Process,
    ) -> None:
        clock = process.clock
        self.transport = transport
        self.reviewer = Reviewer(transport)
        self.reader = Reader(transport)
        self.writer = Writer(transport, WriteBudget(clock), clock)
        self.leaf = leaf
        self.watch = ClusterWatch(transport, process=process)
        namespace = settings.namespace
        self.leadership = Leadership(settings, transport, process)
        self.registrar = Registrar(
            KubeInstallation(
                self.reader,
                self.writer,
                namespace=namespace,
                new_key=partial(secrets.token_hex, 32),
            ),
            leaf,
            Servers(
                admission=_service("nemutator-admission", namespace),
                brain=[
                    *_service("nemutator-brain", namespace),
                    *_service("nemutator-console", namespace),
                    *settings.further_names,
                ],
            ),
            process=process,
            leads=self.leadership.now,
            webhooks=WEBHOOKS,
            optional_webhooks=[OVERSELL_WEBHOOKS] if settings.oversell_nodes else [],
        )
        accounts = Accounts(
            agent=account(namespace, settings.agent_account),
            admission=account(namespace, settings.admission_account),
        )
        self.callers = ProvenCallers(
            reviewed=ReviewedCallers(self.reviewer, accounts, process),
            keys=SigningKeys(source=self.reviewer, process=process),
            agents=AgentPods(self.watch),
            accounts=accounts,
            process=process,
        )
        self.announcer = Announcer(self.writer, process, component="nemutator-brain")
        self.window_owners = WindowOwners(self.watch)
        self.usage_owners = OwnersOfUse(self.watch)
        self.requested_memory = MemoryOfKilled(self.watch)
        self.killed = KilledByKubelet(self.watch)
        self.requests = RequestedNow(self.watch, clock)
        self.pods = NamedPods(self.watch)
        self.declared = DeclaredPods(self.watch)
        self.images_in_use = ImagesOfDeclaringPods(self.watch)
        self.annotated = PodsThatAsk(self.watch)
        self.stamped = StampedPodChanges(self.watch)
        self.results = ResultsOnPods(self.writer, self.announcer)
        self.ageing_news = AgeingNewsOnPods(self.pods, self.announcer, self.leadership.now)
        self.ageing_marks = PodsWithAgeing(self.watch, self.writer)
        self.restartable = PodsToRestart(self.watch)
        self.rotations = KubeEvictions(self.writer, self.announcer, "SecretRotation")
        self.evictable = PodsToEvict(self.watch)
        self.evictions = KubeEvictions(self.writer, self.announcer, "Eviction")
        self.eviction_rights = ReviewedEvictionRights(self.reviewer)
        self.workloads: dict[str, Informer[WatchedWorkload]] = {
            resource.kind: self.watch.jobs
            if resource is JOBS
            else Informer(resource, transport=transport, process=process)
            for resource in WORKLOADS
        }
        self.objects = ObjectsWatch(transport, process, self.workloads)
        self.policies = Informer(MUTATION_POLICIES, transport=transport, process=process)
        # An installation may be older than its definition.
        self.sizing_policies = Informer(
            SIZING_POLICIES, transport=transport, process=process, may_be_absent=True
        )
        self.season_policies = Informer(
            SEASON_POLICIES, transport=transport, process=process, may_be_absent=True
        )
        self.forecast_scalers = Informer(
            FORECAST_SCALERS, transport=transport, process=process, may_be_absent=True
        )
        self.namespaces = Informer(NAMESPACES, transport=transport, process=process)
        self.statuses = PolicyStatusWriter(self.policies, self.writer, process=process)
        self._template_rules = TemplateRuleWriter(
            self.policies, self.reader, self.writer, WEBHOOKS, process
        )

    async def policy_revisions(self) -> Mapping[str, str]:
        try:
            policies = self.policies.snapshot().objects.values()
        except NotSyncedError:
            return {}
        return {each.metadata.name: revision_of(each.spec) for each in policies}

    def tasks(self) -> list[Task]:
        bodies = {
            **self.watch.tasks(),
            **self.objects.tasks(),
            **{
                f"watch {resource.plural}": self.workloads[resource.kind].run
                for resource in WORKLOADS
                if resource is not JOBS
            },
            "certificates": self.registrar.run,
            "events": self.announcer.run,
            "watch policies": self.policies.run,
            "watch namespaces": self.namespaces.run,
            "follow policies": self.statuses.follow,
            "policies' statuses": self.statuses.write,
            "follow policies of templates": self._template_rules.follow,
            "check template rules": self._template_rules.check,
            "template rules": self._template_rules.write,
        }
        return [
            Task(TaskPhase.WATCH, name, body, alone=name in ALONE) for name, body in bodies.items()
        ]


@contextlib.asynccontextmanager
async def in_cluster(settings: BrainSettings, process: Process) -> AsyncIterator[Cluster]:
    """Connect as the service account of this pod."""
    # There is no `nemutator up` here that would make one.
    renew_link_token(process.directory)
    configuration = InCluster(process.clock, mount=settings.service_account)
    async with HttpTransport(configuration, process.meter) as transport:
        yield Cluster(settings, transport, LeafFiles(process.directory.root), process)


def _service(name: str, namespace: str) -> list[str]:
    """The names of a Service within the cluster."""
    return [f"{name}.{namespace}.svc", f"{name}.{namespace}.svc.cluster.local", name]

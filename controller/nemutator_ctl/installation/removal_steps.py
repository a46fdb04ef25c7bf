"""Takes an installation away: webhooks first, the agent when no pod has a socket of it, what the brain wrote on nodes and
autoscalers, and data last if at all."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.installation.install_steps import POLL_S, WEBHOOKS, refuse_release
from nemutator_ctl.installation.left_marks import patch_of_autoscaler, patch_of_node
from nemutator_ctl.installation.object_paths import ObjectPlace
from nemutator_ctl.installation.ports import InstalledObjects, Listener, Patience
from nemutator_ctl.installation.rendered_manifests import WORKLOADS
from nemutator_ctl.installation.socket_pods import RESTARTED, commands, owners, with_socket

Json = dict[str, Any]

ADMISSION = "nemutator-admission"
REVOKED_S = 30.0
"""So long after a pod has ended its agent has revoked its token."""
MOST_TRIES = 5
"""To change an object that others change, too."""
RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalChoice:
    restarts: bool
    """Whether workloads whose pods have a socket are made anew."""
    force: bool
    """Whether the agent is taken away from pods that still have one."""
    data: bool
    """Whether what the brain knows goes, too."""
    definitions: bool
    """Whether all policies go, too."""
    dry_run: str | None
    wait_s: float


class RemovalSteps:
    def __init__(self, cluster: InstalledObjects, patience: Patience, listener: Listener) -> None:
        self._cluster = cluster
        self._patience = patience
        self._listener = listener

    def remove(
        self,
        documents: Sequence[Json],
        definitions: Sequence[Json],
        wanted: RemovalChoice,
        *,
        at: str,
    ) -> None:
        """All of *documents*, in the order in which nothing misses them. *at*: what time it is, for kubectl."""
        refuse_release(self._cluster)
        ends = self._patience.monotonic() + wanted.wait_s
        webhooks = [each for each in documents if each["kind"] == WEBHOOKS]
        # Without the webhook no pod waits for it, and none is made with a socket.
        admission = [
            each
            for each in documents
            if each["metadata"]["name"] == ADMISSION and each not in webhooks
        ]
        kept = [each for each in documents if each["kind"] == "Namespace"]
        first = [*webhooks, *admission]
        rest = [each for each in documents if each not in first and each not in kept]
        self._delete(first, wanted, ends)
        self._drain(wanted, ends, at=at)
        # Their accounts and roles last: what ends still uses them.
        rest.sort(key=lambda each: each["kind"] not in WORKLOADS)
        self._delete(rest, wanted, ends)
        # Nobody is there any more who would write them again.
        self._unmark("v1", "Node", self._cluster.nodes(), patch_of_node, wanted)
        self._unmark(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            self._cluster.autoscalers(),
            patch_of_autoscaler,
            wanted,
        )
        if wanted.definitions:
            self._delete(definitions, wanted, ends)
        if wanted.data:
            self._delete(kept, wanted, ends)

    def _drain(self, wanted: RemovalChoice, ends: float, *, at: str) -> None:
        pods = with_socket(self._cluster.pods())
        if not pods:
            return
        if wanted.dry_run is not None:
            self._listener.say(
                f"{len(pods)} pods have a socket of the agent, and have to be made anew:"
            )
            for line in commands(pods):
                self._listener.say(f"  {line}")
            return
        if wanted.restarts:
            self._restart(pods, at)
        said = 0
        while pods and not wanted.force and self._patience.monotonic() < ends:
            if len(pods) != said:
                self._listener.say(f"waiting for {len(pods)} pods that have a socket of the agent")
                said = len(pods)
            self._patience.sleep(POLL_S)
            pods = with_socket(self._cluster.pods())
        if pods and not wanted.force:
            raise OperatorError(
                f"{len(pods)} pods still have a socket of the agent, which stays for them:\n  "
                + "\n  ".join(commands(pods)),
                remedy="make them anew as above, or with --restart, and uninstall again; without an agent"
                " kubelet cannot unmount what they have (--force)",
                code=ExitCode.FAILED,
            )
        self._listener.say(f"waiting {REVOKED_S:.0f} s, in which agents revoke the last tokens")
        self._patience.sleep(REVOKED_S)

    def _restart(self, pods: Sequence[Json], at: str) -> None:
        for each, count in sorted(owners(pods).items()):
            if each.kind not in RESTARTED:
                self._listener.say(f"{count} pods are nobody's to restart: {each.command}")
                continue
            place = ObjectPlace("apps/v1", each.kind, each.name, each.namespace)
            template = {"metadata": {"annotations": {RESTARTED_AT: at}}}
            self._cluster.merge(place, {"spec": {"template": template}})
            self._listener.say(f"restarted {place} in {each.namespace}, for {count} pods")

    def _unmark(
        self,
        api_version: str,
        kind: str,
        found: Iterable[Json],
        patch_of: Callable[[Json], Json | None],
        wanted: RemovalChoice,
    ) -> None:
        for one in found:
            metadata = one["metadata"]
            place = ObjectPlace(api_version, kind, metadata["name"], metadata.get("namespace", ""))
            now: Json | None = one
            for _ in range(MOST_TRIES):
                patch = None if now is None else patch_of(now)
                if patch is None:
                    break
                if wanted.dry_run is not None or self._cluster.merge(place, patch):
                    self._listener.done(place, "given back", None)
                    break
                now = self._cluster.get(place)
            else:
                self._listener.say(f"{place} keeps what the brain wrote: it changes all the time")

    def _delete(self, documents: Sequence[Json], wanted: RemovalChoice, ends: float) -> None:
        going = []
        for document in documents:
            place = ObjectPlace.of(document)
            if wanted.dry_run == "client":
                was_there = self._cluster.get(place) is not None
            else:
                was_there = self._cluster.delete(place, dry_run=wanted.dry_run is not None)
            if was_there:
                self._listener.done(place, "deleted", None)
                going.append(place)
        if wanted.dry_run is None:
            for place in going:
                self._wait(place, ends)

    def _wait(self, place: ObjectPlace, ends: float) -> None:
        said = False
        while self._cluster.get(place) is not None:
            if self._patience.monotonic() >= ends:
                raise OperatorError(
                    f"{place} does not go",
                    remedy="see what holds it (its finalizers, its pods), and uninstall again",
                    code=ExitCode.FAILED,
                )
            if not said:
                self._listener.say(f"waiting until {place} is gone")
                said = True
            self._patience.sleep(POLL_S)

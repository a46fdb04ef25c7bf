"""Installs: one object after another, the brain ready before what waits for it, webhooks last."""

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.installation.object_paths import (
    FieldConflictError,
    KindUnknownError,
    ObjectPlace,
)
from nemutator_ctl.installation.ports import InstalledObjects, Listener, Patience
from nemutator_ctl.installation.rollouts import troubles, unready

Json = dict[str, Any]

MANAGER = "nemutator-install"
POLL_S = 1.0
WEBHOOKS = "MutatingWebhookConfiguration"
BRAIN = "nemutator-brain"
BUFFER = "nemutator-buffer"
AWAITED = frozenset({"CustomResourceDefinition", "StatefulSet", "DaemonSet", "Deployment"})
RELEASE = "meta.helm.sh/release-name"


class InstallSteps:
    """*force*: take fields that somebody else has set. *dry_run*: the API server only says what it would do."""

    def __init__(
        self,
        cluster: InstalledObjects,
        patience: Patience,
        listener: Listener,
        *,
        force: bool,
        dry_run: bool,
    ) -> None:
        self._cluster = cluster
        self._patience = patience
        self._listener = listener
        self._force = force
        self._dry_run = dry_run

    def install(
        self, documents: Sequence[Json], unwanted: Iterable[Json], *, wait_s: float | None
    ) -> None:
        """Make *documents* true, and take away what an earlier installation of ours had of *unwanted*.

        *wait_s*: until everything is ready, for so long at most; None: not at all.
        """
        refuse_release(self._cluster)
        ends = None if wait_s is None else self._patience.monotonic() + wait_s
        self._remove(unwanted)
        waiting: list[ObjectPlace] = []
        ordered = sorted(documents, key=lambda each: each["kind"] == WEBHOOKS)
        for document in ordered:
            place = ObjectPlace.of(document)
            if place.kind == WEBHOOKS:
                # Who asks before anybody answers is told so by the API server, with each pod.
                self._wait(waiting, ends)
                waiting = []
            if not self._apply(place, document):
                return
            if place.kind in AWAITED:
                waiting.append(place)
            if (place.kind, place.name) == ("StatefulSet", BRAIN):
                # It makes the certificates and keys that the others' pods mount.
                self._wait(waiting, ends)
                waiting = []
        self._wait(waiting, ends)

    def _apply(self, place: ObjectPlace, document: Json) -> bool:
        """Whether to go on: nothing can be tried in a namespace that is not there yet."""
        live = self._cluster.get(place)
        try:
            made = self._cluster.apply(
                kept(document, live), force=self._force, dry_run=self._dry_run
            )
        except FieldConflictError as error:
            raise OperatorError(
                f"{place}: somebody else has set what this would change: {error}",
                remedy="set it as they have with --set, or take these fields with --force-conflicts",
                code=ExitCode.FAILED,
            ) from error
        except KindUnknownError as error:
            if self._dry_run and place.namespace:
                self._listener.say(
                    f"{place} and what follows cannot be tried before its namespace is there"
                )
                return False
            raise OperatorError(
                f"{place}: {error}",
                remedy="install what defines this kind first, or leave that part out",
                code=ExitCode.FAILED,
            ) from error
        version = None if live is None else live["metadata"].get("resourceVersion")
        same = live is not None and made["metadata"].get("resourceVersion") == version
        outcome = "created" if live is None else "unchanged" if same else "configured"
        self._listener.done(place, outcome, made)
        return True

    def _remove(self, unwanted: Iterable[Json]) -> None:
        for document in sorted(unwanted, key=lambda each: each["kind"] != WEBHOOKS):
            place = ObjectPlace.of(document)
            live = self._cluster.get(place)
            if live is not None and is_ours(live):
                self._cluster.delete(place, dry_run=self._dry_run)
                self._listener.done(place, "deleted", None)

    def _wait(self, places: Sequence[ObjectPlace], ends: float | None) -> None:
        if ends is None or self._dry_run:
            return
        for place in places:
            said = ""
            while (missing := self._missing(place)) and self._patience.monotonic() < ends:
                if missing != said:
                    self._listener.say(f"waiting for {place}: {missing}")
                    said = missing
                self._patience.sleep(POLL_S)
            if missing:
                self._give_up(place, missing)

    def _missing(self, place: ObjectPlace) -> str:
        live = self._cluster.get(place)
        return "it is not there" if live is None else unready(live)

    def _give_up(self, place: ObjectPlace, missing: str) -> None:
        live = self._cluster.get(place) or {}
        labels = (live.get("spec") or {}).get("selector", {}).get("matchLabels")
        pods = self._cluster.pods(namespace=place.namespace, labels=labels) if labels else []
        why = "".join(f"\n  {each}" for each in troubles(pods))
        raise OperatorError(
            f"{place} is not ready in time: {missing}{why}",
            remedy="mend that and install again, which goes on from here; --timeout waits longer",
            code=ExitCode.FAILED,
        )


def kept(document: Json, live: Json | None) -> Json:
    """*document*, without what the brain writes there."""
    made = copy.deepcopy(document)
    if made["kind"] == WEBHOOKS:
        for webhook in made["webhooks"]:
            if webhook.get("rules") == []:
                del webhook["rules"]
    if live is not None and (made["kind"], made["metadata"]["name"]) == ("Deployment", BUFFER):
        made["spec"]["replicas"] = live["spec"]["replicas"]
    return made


def is_ours(live: Json) -> bool:
    """Whether an installation of ours has made it."""
    return any(
        each.get("manager") == MANAGER and each.get("operation") == "Apply"
        for each in live["metadata"].get("managedFields") or ()
    )


def refuse_release(cluster: InstalledObjects) -> None:
    """Two who install the same take it from each other."""
    live = cluster.get(ObjectPlace("apps/v1", "StatefulSet", BRAIN, "nemutator"))
    name = ((live or {}).get("metadata", {}).get("annotations") or {}).get(RELEASE)
    if name:
        raise OperatorError(
            f"Helm has installed it here, as the release {name}",
            remedy="change it with helm upgrade, and take it away with helm uninstall",
            code=ExitCode.FAILED,
        )

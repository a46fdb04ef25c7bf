"""Writes new sizes to one pod: the record, then the pod's stamp, then the sizes.

So what was changed can be taken back whatever happens in between; what the API server refuses is asked without
effect before that.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.mutations.decisions import Decision, Edit, Subject
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import Json, PathError, value_at
from nemutator_controller.mutations.stamps import in_full, merged, stamp_of, stamp_text, stamping
from nemutator_controller.updating.decisions import VERB, changed_fields
from nemutator_controller.updating.ports import SizedPods, SizingJournal
from nemutator_controller.updating.records import (
    NotResizedError,
    PodChangedError,
    ResizeInPlace,
    SizedPod,
)

log = logging.getLogger(__name__)

TRIES = 5
"""Kubelet may write the pod between our read and our write."""

NO_ROOM = "its annotation has no room for a further change"


@dataclass(frozen=True, slots=True)
class ResizeWriter:
    pods: SizedPods
    journal: SizingJournal
    process: Process
    fresh: Callable[[], str]
    """Makes unused ids of decisions."""

    async def write(
        self, pod: SizedPod, document: Json, version: str, decision: ResizeInPlace, policy: str
    ) -> str:
        """What was changed, in words. Raises PodChangedError and NotResizedError."""
        edits = _edits(document, decision, policy)
        await self.pods.rehearse(pod, document, version, edits)
        id_ = self.fresh()
        with self.process.tracer.span(names.RESIZE_SPAN) as span:
            span.note(namespace=pod.namespace, pod=pod.name, decision=id_, result="failed")
            await self._recorded(pod, document, version, edits, id_, span.trace)
            span.note(result="given")
        note = f"resized in place: {'; '.join(changed_fields(decision.changes))}"
        log.info("pod_resized", {names.OBJECT: str(pod), names.DECISION: id_, names.REASON: note})
        self.pods.notify(pod, f"{note} ({policy}; `nemutator rollback {id_}`)")
        return note

    async def _recorded(
        self,
        pod: SizedPod,
        document: Json,
        version: str,
        edits: Sequence[Edit],
        id_: str,
        trace: str,
    ) -> None:
        stamp = merged(stamp_of(document, "Pod"), id_, edits)
        text = in_full(stamp)
        if text is None:
            raise NotResizedError(NO_ROOM, again=False)
        before = stamp_text(document, "Pod")
        record = self._decision(id_, pod, stamp.edits or tuple(edits))
        await self.journal.add(replace(record, trace=trace))
        marked, marked_version = await self.pods.stamp(
            pod, document, version, stamping(before, text)
        )
        try:
            await self._resize(pod, marked, marked_version, edits)
        except (PodChangedError, NotResizedError):
            await self._unmark(pod, text, before)
            raise

    async def _resize(
        self, pod: SizedPod, document: Json, version: str, edits: Sequence[Edit]
    ) -> None:
        """As often as kubelet writes the pod's status in between."""
        for left in reversed(range(TRIES)):
            try:
                await self.pods.resize(pod, document, version, edits)
                return
            except PodChangedError:
                found = await self.pods.read(pod)
                if not left or found is None:
                    raise
                _, document, version = found
                if any(_live(document, edit) != edit.before for edit in edits):
                    raise

    async def _unmark(self, pod: SizedPod, text: str, before: tuple[object, ...]) -> None:
        """Nothing was changed: the stamp that was there comes back."""
        for _ in range(TRIES):
            try:
                found = await self.pods.read(pod)
                if found is None or stamp_text(found[1], "Pod") != (text,):
                    return
                back = Edit(
                    path=stamping((text,)).path,
                    before=(text,),
                    after=before,
                    verb="stamp",
                    policy="",
                )
                await self.pods.stamp(pod, found[1], found[2], back)
                return
            except PodChangedError:
                continue
            except NotResizedError as error:
                log.warning("stamp_stays", {names.OBJECT: str(pod), names.ERROR: str(error)})
                return

    def _decision(self, id_: str, pod: SizedPod, edits: Sequence[Edit]) -> Decision:
        namespace, kind, name = pod.workload
        is_its_own = (kind, name) == ("Pod", pod.name)
        return Decision(
            id=id_,
            at=self.process.clock.now(),
            request_uid="",
            operation="RESIZE",
            mode="apply",
            subject=Subject(
                api_version="v1",
                kind="Pod",
                namespace=namespace,
                name=pod.name,
                uid=pod.uid,
                owner_kind="" if is_its_own else kind,
                owner_name="" if is_its_own else name,
            ),
            edits=tuple(edits),
        )


def _live(document: Json, edit: Edit) -> tuple[object, ...]:
    try:
        return value_at(document, parse_path(edit.path), "Pod")
    except PathError:
        return ()


def _edits(document: Json, decision: ResizeInPlace, policy: str) -> tuple[Edit, ...]:
    return tuple(
        Edit(
            path=each.path,
            before=value_at(document, parse_path(each.path), "Pod"),
            after=(str(each.after),),
            verb=VERB,
            policy=policy,
            reason=each.reason,
        )
        for each in decision.changes
    )

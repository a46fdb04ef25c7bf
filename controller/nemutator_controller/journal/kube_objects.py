"""The objects of a cluster, which are written only if they are still as they were read."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec
from nemutator_common import names

from nemutator_controller.journal.live_objects import (
    ChangedError,
    LiveObject,
    ObjectRefusedError,
    UnreachableError,
)
from nemutator_controller.kube.calls import Selection
from nemutator_controller.kube.failures import (
    ConflictError,
    InvalidError,
    KubeError,
    NotFoundError,
    UnauthorizedError,
    UntrustedError,
)
from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.resources import (
    AUTOSCALERS,
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    PODS,
    STATEFUL_SETS,
    Resource,
)
from nemutator_controller.kube.writing import OnlyIf, Writer
from nemutator_controller.mutations.decisions import Edit, Subject
from nemutator_controller.mutations.patches import guards, render
from nemutator_controller.mutations.stamps import parse_stamp

RESOURCES: Final[dict[str, Resource[Any]]] = {
    resource.kind: resource
    for resource in (
        PODS,
        DEPLOYMENTS,
        STATEFUL_SETS,
        DAEMON_SETS,
        JOBS,
        CRON_JOBS,
        AUTOSCALERS,
    )
}


class KubeObjects:
    """`Objects` behind an API server."""

    running = True

    def __init__(self, reader: Reader, writer: Writer) -> None:
        self._reader = reader
        self._writer = writer

    async def get(self, subject: Subject) -> LiveObject | None:
        resource = _resource(subject.kind)
        try:
            body = await self._reader.raw(resource, subject.namespace, subject.name)
        except NotFoundError:
            return None
        except KubeError as error:
            raise _failure(error) from error
        live = _live(subject, body)
        # Another object may have the name by now.
        return None if subject.uid and live.subject.uid != subject.uid else live

    async def find(self, subject: Subject, decision: str) -> LiveObject | None:
        resource = _resource(subject.kind)
        try:
            async for page in self._reader.pages(resource, Selection(namespace=subject.namespace)):
                for found in page.items:
                    # A stamp can be copied to another pod.
                    named_so = found.metadata.name.startswith(subject.generate_name)
                    if named_so and _carries(found, decision):
                        return await self.get(replace(subject, name=found.metadata.name))
        except KubeError as error:
            raise _failure(error) from error
        return None

    async def write(self, live: LiveObject, edits: Sequence[Edit], *, resize: bool) -> LiveObject:
        return await self._patch(live, edits, resize=resize, dry_run=False)

    async def rehearse(self, live: LiveObject, edits: Sequence[Edit], *, resize: bool) -> None:
        await self._patch(live, edits, resize=resize, dry_run=True)

    async def _patch(
        self, live: LiveObject, edits: Sequence[Edit], *, resize: bool, dry_run: bool
    ) -> LiveObject:
        subject = live.subject
        operations = [
            *guards(live.document, edits, subject.kind),
            *render(live.document, edits, subject.kind),
        ]
        try:
            body = await self._writer.json_patch(
                _resource(subject.kind),
                subject.namespace,
                subject.name,
                operations,
                # Equal values are not enough: a field may be somebody else's by now, with our value.
                only_if=OnlyIf(uid=subject.uid, resource_version=live.version),
                subresource="resize" if resize else "",
                dry_run=dry_run,
            )
        except (ConflictError, NotFoundError) as error:
            raise ChangedError(str(error)) from error
        except InvalidError as error:
            # A failed test and a value that is not allowed have the same status, 422.
            now = await self.get(subject)
            if now is None or now.version != live.version:
                raise ChangedError(str(error)) from error
            raise ObjectRefusedError(str(error)) from error
        except KubeError as error:
            raise _failure(error) from error
        return _live(subject, body)

    async def evict(self, live: LiveObject) -> None:
        subject = live.subject
        try:
            await self._writer.evict(
                subject.namespace, subject.name, only_if=OnlyIf(uid=subject.uid)
            )
        except NotFoundError:
            return
        except ConflictError as error:
            raise ChangedError(str(error)) from error
        except KubeError as error:
            raise _failure(error) from error


def _resource(kind: str) -> Resource[Any]:
    try:
        return RESOURCES[kind]
    except KeyError:
        raise ObjectRefusedError(f"{kind}: only {', '.join(RESOURCES)} are taken back") from None


def _live(subject: Subject, body: bytes) -> LiveObject:
    try:
        document = msgspec.json.decode(body, type=dict[str, Any])
        metadata = document["metadata"]
        found = replace(subject, name=str(metadata["name"]), uid=str(metadata["uid"]))
        return LiveObject(
            subject=found, document=document, version=str(metadata["resourceVersion"])
        )
    except (msgspec.DecodeError, KeyError, TypeError) as error:
        raise UnreachableError(f"the API server's answer is not an object: {error}") from error


def _carries(found: Object, decision: str) -> bool:
    stamp = parse_stamp(found.metadata.annotations.get(names.MUTATION))
    return stamp is not None and stamp.id == decision


def _failure(error: KubeError) -> ObjectRefusedError | UnreachableError:
    if error.retry or isinstance(error, UntrustedError | UnauthorizedError):
        return UnreachableError(str(error))
    return ObjectRefusedError(str(error))

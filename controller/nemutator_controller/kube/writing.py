"""Changes the cluster within a budget, under our name, and only what is still as we saw it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from nemutator_common.clocks import Clock

from nemutator_controller.kube import calls, fencing
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.failures import TooManyRequestsError
from nemutator_controller.kube.patch_texts import patch_text
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.resources import PODS, Resource

Json = Mapping[str, Any]
"""An object or a part of one on its way to the server; what comes from there has a shape."""

TRIES = 4
LONGEST_WAIT_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyIf:
    """Write only when the object is still this one, or still in this state.

    The server refuses with a `ConflictError` for a version. For a uid, patches get an
    `InvalidError` (it takes the uid for an attempt to change it), deletions a `ConflictError`.
    """

    uid: str = ""
    resource_version: str = ""

    @property
    def metadata(self) -> dict[str, str]:
        both = {"uid": self.uid, "resourceVersion": self.resource_version}
        return {name: value for name, value in both.items() if value}


ANYWAY = OnlyIf()


@dataclass(frozen=True, slots=True)
class Writer:
    """Every write takes its turn in *budget*.

    Only a 429 is tried again, because then the server has not begun: whether to repeat a write that
    may have happened is for its caller to know. What comes back is the object as it is now.
    """

    transport: Transport
    budget: WriteBudget
    clock: Clock

    async def create(self, resource: Resource[Any], namespace: str, manifest: Json) -> bytes:
        body = {"apiVersion": resource.api_version, "kind": resource.kind, **manifest}
        return await self._write(calls.creating(resource, namespace, _encoded(body)))

    async def json_patch(
        self, resource: Resource[Any], namespace: str, name: str, operations: Sequence[Json], *,
        only_if: OnlyIf = ANYWAY, subresource: str = "", dry_run: bool = False,
    ) -> bytes:  # fmt: skip
        """RFC 6902. The conditions become `test` operations in front: a failed one is a 422."""
        tests = [
            {"op": "test", "path": f"/metadata/{field}", "value": value}
            for field, value in only_if.metadata.items()
        ]
        return await self._write(
            calls.patching(
                resource,
                namespace,
                name,
                patch_text([*tests, *operations]),
                content_type=calls.JSON_PATCH,
                subresource=subresource,
                dry_run=dry_run,
            )
        )

    async def merge_patch(
        self, resource: Resource[Any], namespace: str, name: str, patch: Json, *,
        only_if: OnlyIf = ANYWAY, subresource: str = "",
    ) -> bytes:  # fmt: skip
        """RFC 7386: null takes a field away, a list replaces a list."""
        return await self._write(
            calls.patching(
                resource,
                namespace,
                name,
                _encoded(_with_metadata(patch, only_if.metadata)),
                content_type=calls.MERGE_PATCH,
                subresource=subresource,
            )
        )

    async def apply(
        self, resource: Resource[Any], namespace: str, name: str, wanted: Json, *,
        only_if: OnlyIf = ANYWAY, subresource: str = "", force: bool = False,
    ) -> bytes:  # fmt: skip
        """Server-side apply: *wanted* is all that we own of it; made when it is not there.

        A version alone does not keep the server from making anew what is gone; a uid does.
        """
        if only_if.resource_version and not only_if.uid:
            raise ValueError("a condition of an apply needs the uid")
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        body = {"apiVersion": resource.api_version, "kind": resource.kind, **wanted}
        return await self._write(
            calls.patching(
                resource,
                namespace,
                name,
                _encoded(_with_metadata(body, {**metadata, **only_if.metadata})),
                content_type=calls.APPLY_PATCH,
                subresource=subresource,
                force=force,
            )
        )

    async def evict(self, namespace: str, pod: str, *, only_if: OnlyIf = ANYWAY) -> None:
        """Ask for the end of a pod; a `DisruptionBudgetError` means: not now."""
        options = {"preconditions": only_if.metadata} if only_if.metadata else {}
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"namespace": namespace, "name": pod},
            "deleteOptions": {"apiVersion": "v1", "kind": "DeleteOptions", **options},
        }
        await self._write(
            calls.creating(PODS, namespace, _encoded(body), name=pod, subresource="eviction")
        )

    async def _write(self, call: Call) -> bytes:
        for attempt in range(1, TRIES + 1):
            async with self.budget.spend():
                fencing.check(call.asked)
                try:
                    return await self.transport.send(call)
                except TooManyRequestsError as error:
                    if attempt == TRIES or error.retry_after_s > LONGEST_WAIT_S:
                        raise
                    wait_s = max(error.retry_after_s, float(attempt))
            # The turn is over here, so that others can write meanwhile.
            await self.clock.sleep(wait_s)
        raise AssertionError("the last attempt returns or raises")


def _with_metadata(manifest: Json, metadata: Json) -> Json:
    if not metadata:
        return manifest
    return {**manifest, "metadata": {**manifest.get("metadata", {}), **metadata}}


def _encoded(body: object) -> bytes:
    return msgspec.json.encode(body)

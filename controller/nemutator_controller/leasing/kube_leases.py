"""The lease as an object of Kubernetes, `coordination.k8s.io/v1`, as `kubectl get leases` shows it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import (
    AlreadyExistsError,
    ConflictError,
    KubeError,
    NotFoundError,
)
from nemutator_controller.kube.objects import Object, Shape
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.resources import Resource
from nemutator_controller.kube.writing import OnlyIf, Writer
from nemutator_controller.leasing.election import (
    LEASE_S,
    BrainLease,
    LeaseTakenError,
    LeaseUnavailableError,
)


class LeaseSpec(Shape, frozen=True, gc=False):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: datetime | None = None
    renew_time: datetime | None = None
    lease_transitions: int | None = None


class LeaseObject(Object, frozen=True, gc=False):
    spec: LeaseSpec = LeaseSpec()


LEASES: Final = Resource("coordination.k8s.io", "v1", "leases", "Lease", LeaseObject)

_DECODER = msgspec.json.Decoder(LeaseObject)


@dataclass(frozen=True, slots=True)
class KubeLease:
    """A `LeaseStore`. Nobody else may share the writer's budget: renewing waits for nothing."""

    reader: Reader
    writer: Writer
    namespace: str
    name: str

    async def read(self) -> BrainLease | None:
        try:
            return _lease(await self.reader.raw(LEASES, self.namespace, self.name))
        except NotFoundError:
            return None
        except KubeError as error:
            raise LeaseUnavailableError(str(error)) from error

    async def write(self, lease: BrainLease) -> BrainLease:
        try:
            if not lease.version:
                manifest = {"metadata": {"name": self.name}, "spec": _spec(lease)}
                return _lease(await self.writer.create(LEASES, self.namespace, manifest))
            only_if = OnlyIf(resource_version=lease.version)
            patch = {"spec": _spec(lease)}
            return _lease(
                await self.writer.merge_patch(
                    LEASES, self.namespace, self.name, patch, only_if=only_if
                )
            )
        except (AlreadyExistsError, ConflictError, NotFoundError) as error:
            raise LeaseTakenError(str(error)) from error
        except (KubeError, OverBudgetError) as error:
            raise LeaseUnavailableError(str(error)) from error


def _spec(lease: BrainLease) -> dict[str, Any]:
    return {
        "holderIdentity": lease.holder,
        "leaseDurationSeconds": int(lease.lasts_s),
        "acquireTime": _written(lease.acquired_at),
        "renewTime": _written(lease.renewed_at),
        "leaseTransitions": lease.transitions,
    }


def _lease(body: bytes) -> BrainLease:
    try:
        found = _DECODER.decode(body)
    except msgspec.DecodeError as error:
        raise LeaseUnavailableError(f"what came is no lease: {error}") from error
    spec = found.spec
    return BrainLease(
        holder=spec.holder_identity or "",
        acquired_at=_moment(spec.acquire_time),
        renewed_at=_moment(spec.renew_time),
        transitions=spec.lease_transitions or 0,
        lasts_s=float(spec.lease_duration_seconds or LEASE_S),
        version=found.metadata.resource_version,
    )


def _written(at: float) -> str:
    # The API server takes exactly six digits.
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _moment(at: datetime | None) -> float:
    return 0.0 if at is None else at.timestamp()

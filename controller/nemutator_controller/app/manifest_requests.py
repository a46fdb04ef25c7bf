"""What manifests request of what they stand for: off clusters there is nothing else that requests."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nemutator_common import names

from nemutator_controller.journal.files import FileObjects
from nemutator_controller.journal.live_objects import ObjectRefusedError, UnreachableError
from nemutator_controller.journal.ports import Manifests
from nemutator_controller.journal.stand_ins import StandIn, StandInError, stand_ins_of
from nemutator_controller.kube.quantities import Quantity, QuantityError, parse_quantity
from nemutator_controller.sizing.keys import ContainerKey, Requested

NOTHING = Requested(None, None)

KeysOf = Callable[[StandIn], Sequence[ContainerKey]]
"""What was reported of it."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ManifestRequests:
    """A `Requests`. Where several manifests stand for the same, the first by name counts."""

    manifests: Manifests
    keys: KeysOf

    async def now(self) -> Mapping[ContainerKey, Requested]:
        try:
            stored = await self.manifests.all()
        except (ObjectRefusedError, UnreachableError) as error:
            log.warning("manifest_left_out", {names.ERROR: error})
            return {}
        found: dict[ContainerKey, Requested] = {}
        for each in stored:
            for stand_in, requested in requested_by(each.document).items():
                keys = self.keys(stand_in)
                # Of several with one name nobody can tell which one is meant.
                if len(keys) == 1:
                    found.setdefault(keys[0], requested)
        return found


def requests_of_files(folder: Path, keys: KeysOf) -> ManifestRequests:
    return ManifestRequests(FileObjects(folder), keys)


def requested_by(document: Mapping[str, Any]) -> Mapping[StandIn, Requested]:
    """What *document*, which people may have written, requests of each thing that it stands for. Containers that
    stand for the same are added up."""
    try:
        stand_ins = stand_ins_of(document)
    except StandInError:
        return {}
    if stand_ins is None:
        return {}
    found: dict[StandIn, Requested] = {}
    for container in _containers(document):
        name = container.get("name")
        stand_in = stand_ins.of(name) if isinstance(name, str) else None
        if stand_in is None:
            continue
        requests = _mapping(_mapping(container.get("resources")).get("requests"))
        cpu, memory = _amount(requests.get("cpu")), _amount(requests.get("memory"))
        before = found.get(stand_in, NOTHING)
        found[stand_in] = Requested(
            _sum(before.cpu_millis, None if cpu is None else cpu.to_millis()),
            _sum(before.memory_bytes, None if memory is None else memory.to_bytes()),
        )
    return {stand_in: one for stand_in, one in found.items() if one != NOTHING}


def _containers(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    spec = _mapping(document.get("spec"))
    pod = _mapping(_mapping(spec.get("template")).get("spec")) or spec
    containers = pod.get("containers")
    yield from (_mapping(one) for one in containers) if isinstance(containers, list) else ()


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _amount(value: object) -> Quantity | None:
    if not isinstance(value, str | int) or isinstance(value, bool):
        return None
    try:
        found = parse_quantity(str(value))
    except QuantityError:
        return None
    return found if found.nanos >= 0 else None


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other

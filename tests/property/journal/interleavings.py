"""A mutation that is taken back while strangers write the same object, on any API server.

Each case makes an object and a mutation of it. Strangers write before the rollback and between its
calls: values of their own, ours under their name, items of lists in front of ours. What each of them
wrote last must be there afterwards.
"""

import contextlib
import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from nemutator_controller.journal.admission_replicas import AdmissionReplicas
from nemutator_controller.journal.kube_objects import KubeObjects
from nemutator_controller.journal.live_objects import ChangedError, LiveObject
from nemutator_controller.journal.records import Reversal
from nemutator_controller.journal.reversal_steps import covers
from nemutator_controller.journal.rolling_back import RollingBack
from nemutator_controller.kube import calls
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.resources import DEPLOYMENTS, PODS, Resource
from nemutator_controller.kube.writing import Writer
from nemutator_controller.mutations.decisions import Decision, Edit, Maybe, Subject
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.patches import render
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import value_at

from tests.fakes.decisions import CPU, TEAM, edit
from tests.fakes.journals import MemoryJournal
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import EagerClock

Json = dict[str, Any]

NOTE = "metadata.annotations[note]"
ENV = "containers[name=app].env[name=A]"
SIDE = "containers[name=side]"
IMAGE = f"{SIDE}.image"
ZONE = "nodeSelector[zone]"

RESOURCES: Mapping[str, Resource[Any]] = {"Pod": PODS, "Deployment": DEPLOYMENTS}
MOST_STRANGERS = 4
MOST_TRIES = 100


def _container(name: str) -> Json:
    return {
        "name": name,
        "image": f"{name}:1",
        "env": [{"name": "OLD", "value": "1"}],
        "resources": {"requests": {"cpu": "1", "memory": "64Mi"}},
    }


def _manifest(kind: str, name: str) -> Json:
    pod: Json = {
        "metadata": {"labels": {"app": "web", "team": "old"}, "annotations": {"a": "b"}},
        "spec": {
            "schedulerName": "nobody",
            "containers": [_container("app"), _container("side")],
            "nodeSelector": {"disk": "ssd"},
        },
    }
    if kind == "Pod":
        pod["metadata"]["name"] = name
        return pod
    selector = {"matchLabels": {"app": "web"}}
    spec = {"replicas": 0, "selector": selector, "template": pod}
    return {"metadata": {"name": name}, "spec": spec}


def _ours(kind: str, dice: random.Random) -> tuple[Edit, ...]:
    """Some edits; all of them can be taken back without a new pod."""
    possible = [
        edit(NOTE, after="ours"),
        edit("metadata.labels[tier]", after="web"),
        edit(TEAM, before="old", after="blue"),
        edit(CPU, before="1", after="250m", verb="resources"),
    ]
    if kind == "Deployment":
        possible += [
            edit(ENV, after={"name": "A", "value": "ours"}, verb="env"),
            edit(IMAGE, before="side:1", after="side:2", verb="image"),
            edit(ZONE, after="a", verb="nodeSelector"),
        ]
    return tuple(dice.sample(possible, dice.randint(1, len(possible))))


@dataclass
class Strangers:
    """They write past us, through the same transport that carries our calls."""

    transport: Transport
    dice: random.Random
    live: LiveObject
    written: dict[str, Maybe] = field(default_factory=dict)
    """By path: what one of them has written last."""
    _number: int = 0

    @property
    def kind(self) -> str:
        return self.live.subject.kind

    async def write(self) -> None:
        if self._number >= MOST_STRANGERS:
            return
        self._number += 1
        ways = [self._apply, self._change, self._remove]
        await self.dice.choice(
            ways if self.kind == "Pod" else [*ways, self._insert, self._insert]
        )()

    async def _apply(self) -> None:
        """Server-side apply of one field, often with the value that we have given it."""
        path = self.dice.choice((NOTE, "metadata.labels[tier]", TEAM))
        value = self.dice.choice((*self._now(path), *self._now(path), "theirs"))
        wanted = apply_edits({"metadata": {}}, [edit(path, after=value)], "Pod")
        whole = wanted if self.kind == "Pod" else {"spec": {"template": wanted}}
        subject = self.live.subject
        body = {
            "apiVersion": subject.api_version,
            "kind": subject.kind,
            **whole,
            "metadata": {**whole.get("metadata", {}), "name": subject.name},
        }
        await self._send(body, calls.APPLY_PATCH, force=True)
        self.written[path] = (value,)

    async def _change(self) -> None:
        paths = (NOTE, TEAM, "metadata.labels[other]", *((IMAGE,) if self.kind != "Pod" else ()))
        await self._edit(edit(self.dice.choice(paths), after=f"theirs-{self._number}"))

    async def _remove(self) -> None:
        await self._edit(edit(self.dice.choice((NOTE, "metadata.labels[tier]"))))

    async def _insert(self) -> None:
        """An item in front of ours, so that all positions behind it change, or ours with their value."""
        where, name = self.dice.choice((("containers", "first"), ("env", "Z"), ("env", "A")))
        document = await self._read()
        containers = list(document["spec"]["template"]["spec"]["containers"])
        if where == "containers":
            path, item = f"containers[name={name}]", _container(name)
            containers = [item, *(one for one in containers if one["name"] != name)]
        else:
            path, item = f"containers[name=app].env[name={name}]", {"name": name, "value": "theirs"}
            containers = [
                {**one, "env": [item, *(e for e in one.get("env", []) if e["name"] != name)]}
                if one["name"] == "app"
                else one
                for one in containers
            ]
        await self._send(
            {"spec": {"template": {"spec": {"containers": containers}}}}, calls.MERGE_PATCH
        )
        self.written[path] = (item,)

    async def _edit(self, one: Edit) -> None:
        document = await self._read()
        operations = render(document, [one], self.kind)
        if operations:
            await self._send(operations, calls.JSON_PATCH)
        if operations or one.after:
            self.written[one.path] = one.after

    def _now(self, path: str) -> Maybe:
        return value_at(self.live.document, parse_path(path), self.kind)

    async def _read(self) -> Json:
        subject = self.live.subject
        reading = Reader(self.transport)
        body = await reading.raw(RESOURCES[self.kind], subject.namespace, subject.name)
        document: Json = msgspec.json.decode(body)
        return document

    async def _send(self, body: object, content_type: str, *, force: bool = False) -> None:
        subject = self.live.subject
        call = calls.patching(
            RESOURCES[subject.kind],
            subject.namespace,
            subject.name,
            msgspec.json.encode(body),
            content_type=content_type,
            force=force,
        )
        manager = f"stranger-{self._number}"
        await self.transport.send(replace(call, query={**call.query, "fieldManager": manager}))


@dataclass
class Interrupted:
    """A `Transport` on which strangers are faster than some of our calls."""

    transport: Transport
    strangers: Strangers

    async def send(self, call: Call) -> bytes:
        if self.strangers.dice.random() < 0.5:
            await self.strangers.write()
        return await self.transport.send(call)

    def stream(self, call: Call, *, idle_s: float) -> contextlib.AbstractAsyncContextManager[Any]:
        return self.transport.stream(call, idle_s=idle_s)


@dataclass
class Case:
    """One interleaving, and what came of it."""

    decision: Decision
    reversal: Reversal
    strangers: Strangers
    after: Json

    def foreign(self) -> list[str]:
        """The fields of strangers that are not as they have left them."""
        kind = self.decision.subject.kind
        return [
            path
            for path, wanted in self.strangers.written.items()
            if not covers(value_at(self.after, parse_path(path), kind), wanted)
        ]

    def kept(self) -> list[str]:
        """Fields that were taken back and do not have their old values, though no stranger wrote them."""
        kind = self.decision.subject.kind
        taken = {one.path for one in self.reversal.outcomes if one.result == "reversed"}
        return [
            one.path
            for one in self.decision.edits
            if one.path in taken - self.strangers.written.keys()
            and value_at(self.after, parse_path(one.path), kind) != one.before
        ]


async def interleaved(
    transport: Transport, namespace: str, dice: random.Random, number: int
) -> Case:
    kind = dice.choice(list(RESOURCES))
    resource, name = RESOURCES[kind], f"web-{number}"
    clock = EagerClock()
    subject = Subject(api_version=resource.api_version, kind=kind, namespace=namespace, name=name)
    ours = KubeObjects(Reader(transport), Writer(transport, WriteBudget(clock), clock))
    created = calls.creating(
        resource,
        namespace,
        msgspec.json.encode(
            {"apiVersion": resource.api_version, "kind": kind, **_manifest(kind, name)}
        ),
    )
    await transport.send(replace(created, query={"fieldManager": "creator"}))
    live = await ours.get(subject)
    assert live is not None
    edits = _ours(kind, dice)
    for resize in (False, True):
        some = [one for one in edits if (kind == "Pod" and one.path == CPU) is resize]
        live = await _written(ours, live, some, resize=resize)
    decision = Decision(
        id=f"d{number}",
        at=0.0,
        request_uid="",
        operation="CREATE",
        mode="apply",
        subject=live.subject,
        edits=edits,
    )
    strangers = Strangers(transport, dice, live)
    for _ in range(dice.randint(0, 1)):
        await strangers.write()
    raced = Interrupted(transport, strangers)
    process = fake_process(clock=clock)
    numbers = itertools.count()
    rolling_back = RollingBack(
        MemoryJournal(),
        KubeObjects(Reader(raced), Writer(raced, WriteBudget(clock), clock)),
        replicas=AdmissionReplicas(expected=False, process=process),
        fresh=lambda: f"r{next(numbers)}",
        process=process,
    )
    reversal = await rolling_back.roll_back(decision, evict=False)
    now = await ours.get(live.subject)
    assert now is not None
    return Case(decision, reversal, strangers, dict(now.document))


async def _written(
    objects: KubeObjects, live: LiveObject, edits: Sequence[Edit], *, resize: bool
) -> LiveObject:
    """*live* with *edits*, whoever else writes: a real Deployment's controller does, at once."""
    for _ in range(MOST_TRIES if edits else 0):
        with contextlib.suppress(ChangedError):
            return await objects.write(live, edits, resize=resize)
        found = await objects.get(live.subject)
        assert found is not None
        live = found
    assert not edits, "it kept changing"
    return live

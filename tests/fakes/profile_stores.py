"""Other stores of profiles, which decode and check as the real ones do.

The tables are those of push.v1 and types.v1 (grafana/pyroscope, api/) and of
parca.profilestore.v1alpha1 (parca-dev/parca, proto/), read on 2026-11-23: what is sent has to be the
JSON form of these messages, in which unknown fields are errors. Then come the checks of Pyroscope's
distributor (pkg/validation) and of Parca's normalizer (pkg/normalizer).
"""

import asyncio
import gzip
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from nemutator_common.profiles.pprof_messages import messages

Fields = Mapping[str, tuple[int, str]]

PYROSCOPE: Mapping[str, Fields] = {
    "PushRequest": {"series": (1, "repeated RawProfileSeries")},
    "RawProfileSeries": {
        "labels": (1, "repeated LabelPair"),
        "samples": (2, "repeated RawSample"),
    },
    "RawSample": {"raw_profile": (1, "bytes"), "ID": (2, "string")},
    "LabelPair": {"name": (1, "string"), "value": (2, "string")},
}

PARCA: Mapping[str, Fields] = {
    "WriteRawRequest": {
        "tenant": (1, "string"),
        "series": (2, "repeated RawProfileSeries"),
        "normalized": (3, "bool"),
    },
    "RawProfileSeries": {"labels": (1, "LabelSet"), "samples": (2, "repeated RawSample")},
    "LabelSet": {"labels": (1, "repeated Label")},
    "Label": {"name": (1, "string"), "value": (2, "string")},
    "RawSample": {"raw_profile": (1, "bytes")},
}

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
LONGEST_VALUE = 2048


@dataclass
class FakeProfileStore:
    """Answers as Pyroscope or as Parca, and keeps what it has accepted."""

    kept: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    """With which statuses it refuses the next requests."""
    url: str = ""
    _news: asyncio.Condition = field(default_factory=asyncio.Condition, init=False)

    async def has(self, count: int) -> None:
        """Wait until it has accepted so many."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.kept) >= count)

    @asynccontextmanager
    async def serving(self, tls: SSLContext | None = None) -> AsyncIterator["FakeProfileStore"]:
        app = web.Application(client_max_size=32 << 20)
        app.add_routes(
            [
                web.post("/push.v1.PusherService/Push", self._pyroscope),
                web.post("/api/profiles/writeraw", self._parca),
            ]
        )
        server = TestServer(app)
        await server.start_server(ssl=tls)
        self.url = str(server.make_url("/")).rstrip("/")
        try:
            yield self
        finally:
            await server.close()

    async def _pyroscope(self, request: web.Request) -> web.Response:
        def read(body: bytes) -> None:
            pushed = _parsed(PYROSCOPE, "push.v1", "PushRequest", body)
            for series in pushed.series:
                pairs = [(one.name, one.value) for one in series.labels]
                labels = dict(pairs)
                assert len(labels) == len(pairs), "duplicate label name"
                assert labels.get("service_name"), "service name is not provided"
                for sample in series.samples:
                    self._keep(labels, sample.raw_profile)

        return await self._answer(request, read)

    async def _parca(self, request: web.Request) -> web.Response:
        def read(body: bytes) -> None:
            written = _parsed(PARCA, "parca.profilestore.v1alpha1", "WriteRawRequest", body)
            assert written.normalized
            for series in written.series:
                labels = {one.name: one.value for one in series.labels.labels}
                for sample in series.samples:
                    self._keep(labels, sample.raw_profile)

        return await self._answer(request, read)

    async def _answer(self, request: web.Request, read: Any) -> web.Response:
        self.headers.append(dict(request.headers))
        assert request.content_type == "application/json"
        if self.answers:
            shown = request.headers.get("Authorization", "")
            return web.Response(status=self.answers.pop(0), text=f"not now\n\x1b[2J {shown}")
        try:
            read(await request.read())
        except (AssertionError, json_format.ParseError) as error:
            return web.json_response(
                {"code": "invalid_argument", "message": str(error)}, status=400
            )
        async with self._news:
            self._news.notify_all()
        return web.json_response({})

    def _keep(self, labels: dict[str, str], pprof: bytes) -> None:
        assert _NAME.fullmatch(labels.get("__name__", "")), "invalid metric name"
        for name, value in labels.items():
            assert _NAME.fullmatch(name), f"invalid label name {name!r}"
            assert len(value.encode()) <= LONGEST_VALUE, f"label value too long: {name}"
        _check(gzip.decompress(pprof))
        self.kept.append((labels, pprof))


def _check(content: bytes) -> None:
    """What both ask of pprof."""
    kinds = messages()
    profile = kinds.Profile.FromString(content)
    assert profile.string_table[0] == b"", "first item in string table is not empty"
    for kind in map(kinds.ValueType.FromString, profile.sample_type):
        assert b"-" not in profile.string_table[kind.type], "sample type contains -"
    for table, shape in (
        (profile.mapping, kinds.Mapping),
        (profile.function, kinds.Function),
        (profile.location, kinds.Location),
    ):
        ids = [shape.FromString(row).id for row in table]
        assert ids == list(range(1, len(ids) + 1)), f"{shape.__name__} id is not sequential"
    for sample in map(kinds.Sample.FromString, profile.sample):
        assert len(sample.value) == len(profile.sample_type), "mismatch of values and types"
        assert all(0 < one <= len(profile.location) for one in sample.location_id)


def _parsed(tables: Mapping[str, Fields], package: str, message: str, body: bytes) -> Any:
    file = descriptor_pb2.FileDescriptorProto(name=package, package=package, syntax="proto3")
    kinds, labels = (
        descriptor_pb2.FieldDescriptorProto.Type,
        descriptor_pb2.FieldDescriptorProto.Label,
    )
    for name, fields in tables.items():
        described = file.message_type.add(name=name)
        for name_of_field, (number, words) in fields.items():
            kind = words.removeprefix("repeated ")
            label = "LABEL_OPTIONAL" if kind == words else "LABEL_REPEATED"
            added = described.field.add(
                name=name_of_field, number=number, label=labels.Value(label)
            )
            if kind in tables:
                added.type_name = f".{package}.{kind}"
            else:
                added.type = kinds.Value(f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    shape = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{message}"))
    return json_format.Parse(body, shape())

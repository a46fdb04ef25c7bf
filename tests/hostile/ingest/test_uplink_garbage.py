"""Strangers' bytes on the uplink: refused with a reason, counted, and the brain goes on."""

import gzip
import io
import time
import zlib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import ClientError
from nemutator_common.data_directory_files import read_link_token
from nemutator_common.wire import LARGEST_BATCH_BYTES, REPORTS_PATH

from tests.fakes.batches import batch
from tests.fakes.brains import StandingBrain, standing_brain

GOOD = msgspec.json.encode(batch((1,)))


def changed(**fields: Any) -> bytes:
    return msgspec.json.encode(msgspec.to_builtins(batch((1,))) | fields)


GARBAGE = {
    "nothing": b"",
    "binary": bytes(range(256)) * 10,
    "truncated": GOOD[:-20],
    "trailing": GOOD + b"x",
    "another type": b'"batch"',
    "wrong types": changed(node=7),
    "string for a number": changed(envelopes=[{"seq": "1", "report": {}}]),
    "deep arrays": b"[" * 200_000,
    "deep in an unknown field": b'{"x":' + b'{"y":' * 200_000,
    "huge number": GOOD.replace(b'"seq":1', b'"seq":' + b"9" * 10_000),
    "infinite": GOOD.replace(b'"cpus":2', b'"cpus":1e999'),
    "not a number": GOOD.replace(b'"cpus":2', b'"cpus":NaN'),
    "negative": GOOD.replace(b'"cpus":2', b'"cpus":-2'),
    "control characters": GOOD.replace(b"sshd", b"\\u001b[2J"),
    "terminal in the node": changed(node="\x1b]0;x"),
    "from the future": GOOD.replace(b"1700000000", b"9900000000"),
    "no envelopes": changed(envelopes=[]),
}


async def alive(brain: StandingBrain) -> None:
    async with brain.local.post(REPORTS_PATH, data=GOOD) as answer:
        assert (await answer.json())["seq"] == 1


async def test_garbage_is_refused_with_a_reason_and_counted(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        for what, body in GARBAGE.items():
            async with brain.local.post(REPORTS_PATH, data=body) as answer:
                assert answer.status == 400, what
                assert (await answer.json())["error"], what
        assert await brain.metric("nemutator_batches_refused_total") == len(GARBAGE)
        async with brain.local.get("/api/v1/topology") as answer:
            assert (await answer.json())["nodes"] == []
        await alive(brain)


async def test_a_clock_a_day_ahead_is_refused_and_one_a_day_behind_is_shown_by_the_brains(
    tmp_path: Path,
) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        for days, status in ((1, 400), (-1, 200)):
            body = GOOD.replace(b"1700000000", str(int(time.time()) + days * 86_400).encode())
            async with brain.local.post(REPORTS_PATH, data=body) as answer:
                assert answer.status == status, await answer.text()
        async with brain.local.get("/api/v1/topology") as answer:
            [node] = (await answer.json())["nodes"]
        assert node["age_s"] < 3_600, "it is as old as its arrival"


async def test_the_last_of_duplicate_keys_is_judged_like_any_other(tmp_path: Path) -> None:
    body = GOOD[:-1] + b',"node":"\\u0007"}'
    async with (
        standing_brain(tmp_path / "data") as brain,
        brain.local.post(REPORTS_PATH, data=body) as answer,
    ):
        assert answer.status == 400


@pytest.mark.slow
async def test_too_large_a_body_is_refused_also_when_it_was_small_on_the_way(
    tmp_path: Path,
) -> None:
    bomb = gzip.compress(b" " * (LARGEST_BATCH_BYTES + 1))
    async with standing_brain(tmp_path / "data") as brain:
        for body, headers in (
            (bomb, {"Content-Encoding": "gzip"}),
            (zlib.compress(b" " * (LARGEST_BATCH_BYTES * 4)), {"Content-Encoding": "deflate"}),
            (b" " * (LARGEST_BATCH_BYTES + 1), {}),
        ):
            try:
                async with brain.local.post(
                    REPORTS_PATH, data=io.BytesIO(body), headers=headers
                ) as answer:
                    assert answer.status == 413
            except ClientError:
                pass  # the server closed while we were still sending
        await alive(brain)


async def test_a_body_that_is_not_what_its_encoding_says_is_refused(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        headers = {"Content-Encoding": "gzip"}
        async with brain.local.post(REPORTS_PATH, data=b"no gzip", headers=headers) as answer:
            assert answer.status == 400
        await alive(brain)


async def test_strangers_get_nothing(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        token = read_link_token(brain.directory).reveal()
        for authorization in (
            None,
            "",
            "Bearer",
            "Bearer ",
            "Bearer wrong",
            f"Basic {token}",
            token,
            f"Bearer {token}x",
            f"Bearer {token[:-1]}",
        ):
            headers = {} if authorization is None else {"Authorization": authorization}
            for path in (REPORTS_PATH, "/api/v1/topology", "/api/v1/history", "/nothing"):
                async with brain.stranger.get(path, headers=headers) as answer:
                    assert answer.status == 401, (authorization, path)
            async with brain.stranger.post(REPORTS_PATH, data=GOOD, headers=headers) as answer:
                assert answer.status == 401
            async with brain.stranger.post("/api/v1/console-links", headers=headers) as answer:
                assert answer.status == 401


async def test_without_a_token_file_nobody_is_known(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        brain.directory.link_token.write_text("")
        async with brain.stranger.get(
            "/api/v1/topology", headers={"Authorization": "Bearer "}
        ) as answer:
            assert answer.status == 401
        brain.directory.link_token.unlink()
        async with brain.local.get("/api/v1/topology") as answer:
            assert answer.status == 401

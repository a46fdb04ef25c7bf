"""What the real server of S3 does that the fake only claims: where it keeps objects, and what it refuses."""

import os
import random
import ssl
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest
from nemutator_common.secret import Secret
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.exports.exporting import Exporting
from nemutator_controller.exports.keys import HOUR_S, file_key, position_key
from nemutator_controller.objects import s3 as edge
from nemutator_controller.objects.s3 import S3Objects
from nemutator_controller.objects.signature_v4 import AccessKey, signed
from nemutator_controller.profiles.separating import SeparatedProfiles, object_key
from nemutator_controller.profiles.sql import SqlProfiles
from yarl import URL

from tests.contract.objects.buckets import used_real
from tests.e2e.standing import fill, small_disk
from tests.fakes.clocks import ManualClock
from tests.fakes.databases import opened
from tests.fakes.process import fake_process
from tests.fakes.profiles import NOW, profile
from tests.testbed.parts.s3 import BUCKET, S3

pytestmark = pytest.mark.e2e

HOUR = 472_222
"""Hours since the epoch."""


@pytest.fixture
def ours(s3: S3, tmp_path: Path) -> S3Objects:
    return used_real(s3, tmp_path)


def files(s3: S3, ours: S3Objects) -> dict[str, int]:
    """What lies in the part of the bucket that is *ours*: keys, and their bytes."""
    top = s3.kept / URL(ours.bucket).path.removeprefix(f"/{BUCKET}/")
    return {
        str(path.relative_to(top)): path.stat().st_size
        for path in sorted(top.rglob("*"))
        if path.is_file()
    }


async def test_the_bucket_is_named_in_the_path_and_the_key_behind_it(
    s3: S3, ours: S3Objects
) -> None:
    content = random.Random(1).randbytes(6 << 20)
    await ours.put("profiles/a.pb.gz", content)
    assert files(s3, ours) == {"profiles/a.pb.gz": len(content)}
    assert await ours.get("profiles/a.pb.gz") == content
    await ours.remove("profiles/a.pb.gz")
    assert files(s3, ours) == {}


@pytest.mark.parametrize("key", ["a b", "ü~+%2F", "east=1/x&y", "a@b:c,d;e", "'\"<>"])
async def test_unusual_keys_are_signed_as_they_are_sent(s3: S3, ours: S3Objects, key: str) -> None:
    await ours.put(key, b"content")
    assert files(s3, ours) == {key: 7}
    assert await ours.get(key) == b"content"


async def test_a_body_that_is_not_the_signed_one_is_not_kept(s3: S3, ours: S3Objects) -> None:
    place = URL(ours.bucket)
    path = f"{place.path}/a"
    key = AccessKey(s3.key_id, Secret(s3.secret.reveal()), s3.region)
    headers = signed(
        "PUT", path, {"Host": place.raw_authority}, b"one", key=key, at=ours.clock.now()
    )
    context = ssl.create_default_context(cafile=s3.authority)
    async with (
        aiohttp.ClientSession() as session,
        session.put(f"{ours.bucket}/a", data=b"two", headers=headers, ssl=context) as answer,
    ):
        assert answer.status == 400
        assert "<Code>XAmzContentSHA256Mismatch</Code>" in await answer.text()
    assert files(s3, ours) == {}


async def test_an_object_that_is_too_large_is_not_taken_into_memory(
    s3: S3, ours: S3Objects
) -> None:
    await ours.put("a", b"small")
    [path] = [s3.kept / URL(ours.bucket).path.removeprefix(f"/{BUCKET}/") / "a"]
    os.truncate(path, edge.LARGEST + 1)
    with pytest.raises(StoreUnavailableError) as failure:
        await ours.get("a")
    assert failure.value.reason == "other"


async def test_profiles_that_make_room_for_new_ones_leave_the_bucket(
    s3: S3, ours: S3Objects, tmp_path: Path
) -> None:
    with opened(tmp_path / "x.db") as database:
        store = SeparatedProfiles(SqlProfiles(database), ours)
        for number in range(4):
            done = replace(profile(number, at=NOW + number), state="done", bytes=7)
            await store.save(done, b"content")
        assert await store.prune(most=2, most_bytes=100) == (2, 0)
        kept = [profile(number).id for number in (2, 3)]
        assert list(files(s3, ours)) == [object_key(one) for one in kept]
        assert [await store.pprof(one) for one in kept] == [b"content", b"content"]
        assert await store.pprof(profile(0).id) is None


class Hours:
    """An `ExportSource` with something in each hour."""

    name, ending, of_the_past = "usage", "csv.gz", True

    async def content(self, begin: float, end: float) -> bytes | None:
        return b"%d" % (begin // HOUR_S)


async def test_exports_leave_the_bucket_when_they_are_old_enough(s3: S3, ours: S3Objects) -> None:
    for hour in range(HOUR, HOUR + 27):
        process = fake_process(clock=ManualClock(hour * HOUR_S + 1800))
        await Exporting([Hours()], ours, "east", kept_days=1, process=process).export()
    wanted = {file_key("east", "usage", "csv.gz", hour) for hour in range(HOUR + 2, HOUR + 26)}
    assert set(files(s3, ours)) == wanted | {position_key("east", "usage")}


@pytest.fixture
def small(s3: S3) -> Iterator[Path]:
    """Another bucket of it, on a disk of its own."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    with small_disk(s3.kept.parent / "small", "1m") as disk:
        yield disk


async def test_a_full_disk_is_told_as_one(s3: S3, small: Path, ours: S3Objects) -> None:
    there = replace(ours, bucket=ours.bucket.replace(f"/{BUCKET}/", f"/{small.name}/"))
    await there.put("a", b"before")
    fill(small)
    with pytest.raises(StoreUnavailableError) as failure:
        await there.put("b", bytes(64 << 10))
    assert failure.value.reason == "full"
    assert await there.get("a") == b"before"

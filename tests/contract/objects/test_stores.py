"""Contents in memory, in a fake bucket and in a real one: one suite; then what a bucket does that fails or lies."""

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nemutator_common.errors import OperatorError
from nemutator_controller.app.objects import object_store
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.objects import s3
from nemutator_controller.objects.ports import ObjectStore
from nemutator_controller.objects.s3 import S3Objects
from nemutator_controller.settings.brain import BrainSettings

from tests.certificates import Authority
from tests.contract.objects.buckets import KINDS, Bucket, bucket_of, used
from tests.fakes.clocks import ManualClock
from tests.fakes.objects import FakeBucket, MemoryObjects
from tests.fakes.process import fake_process


@asynccontextmanager
async def bucket(folder: Path) -> AsyncIterator[tuple[FakeBucket, S3Objects]]:
    async with FakeBucket(fake_process().clock.now).serving() as there:
        yield there, used(there.url, folder)


@pytest.fixture(params=["memory", *KINDS])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ObjectStore]:
    if request.param == "memory":
        yield MemoryObjects()
        return
    async with bucket_of(request, tmp_path) as found:
        yield found.ours


@pytest.fixture(params=KINDS)
async def any_bucket(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bucket]:
    async with bucket_of(request, tmp_path) as found:
        yield found


async def test_what_is_put_is_got_until_it_is_removed(store: ObjectStore) -> None:
    assert await store.get("profiles/a.pb.gz") is None
    await store.put("profiles/a.pb.gz", b"one")
    await store.put("profiles/b.pb.gz", bytes(range(256)) * 4096)
    await store.put("profiles/a.pb.gz", b"two")
    assert await store.get("profiles/a.pb.gz") == b"two"
    assert await store.get("profiles/b.pb.gz") == bytes(range(256)) * 4096
    await store.remove("profiles/a.pb.gz")
    await store.remove("profiles/a.pb.gz")
    assert await store.get("profiles/a.pb.gz") is None
    assert await store.get("profiles/b.pb.gz") is not None


async def test_nothing_at_all_can_be_kept(store: ObjectStore) -> None:
    await store.put("empty", b"")
    assert await store.get("empty") == b""


@settings(
    deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.text("abcXYZ019._-/ ü~+", min_size=1, max_size=30).filter(
        lambda one: not set(one) <= {"/", "."}
    )
)
async def test_any_key_is_signed_as_it_is_sent(tmp_path: Path, key: str) -> None:
    async with bucket(tmp_path) as (there, ours):
        await ours.put(f"k/{key.strip('/.')}x", b"content")
        assert list(there.kept.values()) == [b"content"]


async def test_over_tls_by_an_authority_of_ones_own(tmp_path: Path) -> None:
    authority = Authority("theirs")
    (tmp_path / "ca.pem").write_text(authority.certificate)
    (tmp_path / "server.pem").write_text(authority.server("127.0.0.1").both)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "server.pem")
    async with FakeBucket(fake_process().clock.now).serving(context) as there:
        with pytest.raises(StoreUnavailableError, match="cannot be reached"):
            await used(there.url, tmp_path).put("a", b"b")
        await used(there.url, tmp_path, objects_ca_file=str(tmp_path / "ca.pem")).put("a", b"b")
        assert there.kept == {"a": b"b"}


@pytest.mark.parametrize(
    ("change", "setting"),
    [
        (lambda ours: replace(ours, access_key="another"), "brain.objects_access_key"),
        (lambda ours: replace(ours, region="elsewhere"), "brain.objects_region"),
        (
            lambda ours: replace(ours, bucket=ours.bucket.replace("/team/", "/others/")),
            "brain.objects (",
        ),
    ],
)
async def test_who_may_not_is_told_what_to_correct(
    any_bucket: Bucket, change: Callable[[S3Objects], S3Objects], setting: str
) -> None:
    wrong = change(any_bucket.ours)
    for attempt in (wrong.put("a", b"b"), wrong.get("a"), wrong.remove("a")):
        with pytest.raises(StoreUnavailableError) as failure:
            await attempt
        assert failure.value.reason == "denied"
        assert setting in failure.value.remedy
    assert await any_bucket.ours.get("a") is None


async def test_a_secret_that_was_replaced_counts_at_once(any_bucket: Bucket) -> None:
    ours, right = any_bucket.ours, any_bucket.secret_file.read_text()
    any_bucket.secret_file.write_text("an older one")
    with pytest.raises(StoreUnavailableError) as failure:
        await ours.put("a", b"b")
    assert failure.value.reason == "denied"
    any_bucket.secret_file.write_text(right)
    await ours.put("a", b"b")
    assert await ours.get("a") == b"b"


@pytest.mark.parametrize("off_s", [-3600, 3600])
async def test_of_a_clock_that_is_an_hour_off_the_clock_is_told_and_not_the_key(
    any_bucket: Bucket, off_s: int
) -> None:
    ours = any_bucket.ours
    with pytest.raises(StoreUnavailableError, match="clock") as failure:
        await replace(ours, clock=ManualClock(ours.clock.now() + off_s)).put("a", b"b")
    assert failure.value.reason == "clock"
    assert "set the clock" in failure.value.remedy
    assert "key" not in failure.value.remedy


@pytest.mark.parametrize(
    ("status", "said", "reason"),
    [
        (503, b"<Code>SlowDown</Code>", "busy"),
        (429, b"", "busy"),
        (500, b"\x1b[2J", "io"),
        (507, b"", "full"),
        (400, b"<Code>QuotaExceeded</Code>", "full"),
        (400, b"<Code>XAmzContentSHA256Mismatch</Code>", "other"),
        (400, b"<Code>RequestTimeout</Code>", "busy"),
        (400, b"<Code>EntityTooLarge</Code>", "other"),
        (400, b"<Code>AuthorizationHeaderMalformed</Code>", "denied"),
        (301, b"", "denied"),
        (404, b"<Code>NoSuchBucket</Code>", "denied"),
    ],
)
async def test_each_failure_has_its_reason(
    tmp_path: Path, status: int, said: bytes, reason: str
) -> None:
    async with bucket(tmp_path) as (there, ours):
        for attempt in (ours.put, lambda key, _: ours.get(key), lambda key, _: ours.remove(key)):
            there.answers = [(status, said)]
            with pytest.raises(StoreUnavailableError) as failure:
                await attempt("a", b"b")
            assert failure.value.reason == reason
        assert not any("elsewhere" in one for one in there.asked)


async def test_an_answer_without_an_end_is_given_up(tmp_path: Path) -> None:
    async with bucket(tmp_path) as (there, ours):
        there.answers = [(500, b"x" * (s3.LONGEST_ANSWER + 1))]
        with pytest.raises(StoreUnavailableError) as failure:
            await ours.put("a", b"b")
        assert failure.value.reason == "other"


async def test_nobody_there(tmp_path: Path) -> None:
    async with bucket(tmp_path) as (_, ours):
        pass
    with pytest.raises(StoreUnavailableError) as failure:
        await ours.get("a")
    assert failure.value.reason == "gone"
    with pytest.raises(StoreUnavailableError):
        await used(ours.bucket, tmp_path, objects_secret_key_file=str(tmp_path / "no")).get("a")


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"objects_access_key": ""}, "used by a key"),
        ({"objects_secret_key_file": ""}, "used by a key"),
        ({"objects": "https://s3.example"}, "no bucket is named"),
        ({"objects": "http://s3.example/team"}, "readable by everybody"),
    ],
)
def test_settings_that_cannot_work_are_refused(
    tmp_path: Path, changed: dict[str, str], what: str
) -> None:
    with pytest.raises(OperatorError, match=what):
        used("https://s3.example/team", tmp_path, **changed)
    assert object_store(BrainSettings(), fake_process()) is None

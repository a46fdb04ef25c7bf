"""Contents in memory and in a bucket over HTTP: one suite; then what a bucket does that fails or lies."""

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
from tests.fakes.objects import KEY_ID, REGION, SECRET, FakeBucket, MemoryObjects
from tests.fakes.process import fake_process


def used(url: str, folder: Path, **changed: str) -> S3Objects:
    secret = folder / "secret"
    if not secret.exists():
        secret.write_text(f"{SECRET}\n")
    told = {
        "objects": url,
        "objects_region": REGION,
        "objects_access_key": KEY_ID,
        "objects_secret_key_file": str(secret),
    }
    made = object_store(BrainSettings(**(told | changed)), fake_process())  # type: ignore[arg-type]
    assert made is not None
    return made


@asynccontextmanager
async def bucket(folder: Path) -> AsyncIterator[tuple[FakeBucket, S3Objects]]:
    async with FakeBucket(fake_process().clock.now).serving() as there:
        yield there, used(there.url, folder)


@pytest.fixture(params=["memory", "s3"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ObjectStore]:
    if request.param == "memory":
        yield MemoryObjects()
        return
    async with FakeBucket(fake_process().clock.now).serving() as there:
        yield used(f"{there.url}/brain/of.us", tmp_path)


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
    ("change", "reason"),
    [
        (lambda ours: replace(ours, access_key="another"), "denied"),
        (lambda ours: replace(ours, region="elsewhere"), "denied"),
        (lambda ours: replace(ours, bucket=ours.bucket + "-other"), "denied"),
    ],
)
async def test_who_may_not_is_told_what_to_correct(
    tmp_path: Path, change: Callable[[S3Objects], S3Objects], reason: str
) -> None:
    async with bucket(tmp_path) as (_, ours):
        for attempt in (change(ours).put("a", b"b"), change(ours).get("a")):
            with pytest.raises(StoreUnavailableError) as failure:
                await attempt
            assert failure.value.reason == reason
            assert "brain.objects_access_key" in failure.value.remedy


async def test_a_secret_that_was_replaced_counts_at_once(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("an older one")
    async with bucket(tmp_path) as (there, ours):
        with pytest.raises(StoreUnavailableError):
            await ours.put("a", b"b")
        (tmp_path / "secret").write_text(SECRET)
        await ours.put("a", b"b")
        assert there.kept == {"a": b"b"}


@pytest.mark.parametrize("off_s", [-3600, 3600])
async def test_of_a_clock_that_is_an_hour_off_the_clock_is_told_and_not_the_key(
    tmp_path: Path, off_s: int
) -> None:
    async with FakeBucket(lambda: fake_process().clock.now() + off_s).serving() as there:
        with pytest.raises(StoreUnavailableError, match="clock") as failure:
            await used(there.url, tmp_path).put("a", b"b")
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

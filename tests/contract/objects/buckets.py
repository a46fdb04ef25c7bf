"""Buckets that a brain uses by its settings: the fake one, and the real one of the testbed."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from nemutator_common.system_clock import SystemClock
from nemutator_controller.app.objects import object_store
from nemutator_controller.objects.s3 import S3Objects
from nemutator_controller.settings.brain import BrainSettings

from tests.fakes.objects import KEY_ID, REGION, SECRET, FakeBucket
from tests.fakes.process import fake_process
from tests.testbed.parts.s3 import S3

KINDS = ["fake", pytest.param("versitygw", marks=pytest.mark.e2e)]


@dataclass(frozen=True, slots=True)
class Bucket:
    ours: S3Objects
    secret_file: Path
    name: str = "team"

    def at(self, port: int) -> str:
        """Its address behind something that passes on what comes to *port*."""
        before, _, path = self.ours.bucket.partition("127.0.0.1:")
        return f"{before}127.0.0.1:{port}/{path.partition('/')[2]}"


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
    settings = BrainSettings(**(told | changed))  # type: ignore[arg-type]
    made = object_store(settings, fake_process())
    assert made is not None
    return made


def used_real(s3: S3, folder: Path) -> S3Objects:
    """In a part of the bucket that nobody else has used."""
    (folder / "secret").write_text(s3.secret.reveal())
    ours = used(
        f"{s3.url}/{secrets.token_hex(4)}/of.us",
        folder,
        objects_region=s3.region,
        objects_access_key=s3.key_id,
        objects_ca_file=str(s3.authority),
    )
    return replace(ours, clock=SystemClock())


@asynccontextmanager
async def bucket_of(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[Bucket]:
    """Of the kind that a fixture with `params=KINDS` is asked for."""
    if request.param == "versitygw":
        yield Bucket(used_real(request.getfixturevalue("s3"), folder), folder / "secret")
        return
    async with FakeBucket(fake_process().clock.now).serving() as there:
        yield Bucket(used(f"{there.url}/brain/of.us", folder), folder / "secret")

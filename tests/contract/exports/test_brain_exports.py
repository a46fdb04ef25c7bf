"""Files of exports, from the real brain into a bucket that checks each signature."""

import asyncio
import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest
from nemutator_common.errors import OperatorError

from tests.fakes.brains import standing_brain
from tests.fakes.objects import KEY_ID, REGION, SECRET, FakeBucket
from tests.fakes.profiling_agents import FakeAgent


def settings(bucket: FakeBucket, folder: Path, **more: Any) -> dict[str, Any]:
    (folder / "secret").write_text(SECRET)
    return {
        "objects": f"{bucket.url}/brain",
        "objects_region": REGION,
        "objects_access_key": KEY_ID,
        "objects_secret_key_file": str(folder / "secret"),
        **more,
    }


async def test_lists_of_an_hour_are_written_for_other_programs(tmp_path: Path) -> None:
    async with FakeBucket(time.time).serving() as bucket:
        told = settings(bucket, tmp_path, exports="nodes, mutations", cluster_name="east")
        async with standing_brain(tmp_path / "data", **told) as brain:
            await FakeAgent(brain).appear()
            async with asyncio.timeout(60):
                while not (  # noqa: ASYNC110 - the bucket is asked by another process's clock
                    done := [one for one in bucket.kept if one.endswith("mutations/position.json")]
                ):
                    await asyncio.sleep(0.05)
        assert done == ["brain/exports/east/mutations/position.json"]
        files = {key: content for key, content in bucket.kept.items() if key.endswith(".gz")}
        # Nothing was changed in that hour, and there may have been no node yet.
        assert not [key for key in files if "/mutations/" in key]
        for key, content in files.items():
            assert key.startswith("brain/exports/east/nodes/")
            [item] = map(json.loads, gzip.decompress(content).splitlines())
            assert item["name"] == "n1"


async def test_exports_without_a_bucket_are_a_message_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup) as found:
        async with standing_brain(tmp_path / "data", exports="nodes"):
            pass
    [error] = found.value.exceptions
    assert isinstance(error, OperatorError)
    assert "brain.exports" in str(error)
    assert "brain.objects" in error.remedy

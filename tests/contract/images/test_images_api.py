"""What admission asks the brain about images, and what it is answered."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from nemutator_common import names
from nemutator_common.admission_snapshots import IMAGES_PATH, MOST_IMAGE_QUESTIONS, ImageQuestions
from nemutator_common.errors import OperatorError
from nemutator_common.shipping.files import READ_AGAIN_S
from nemutator_controller.app.images import (
    allowed_registries,
    registry_authorities,
    registry_passwords,
)
from nemutator_controller.images.endpoint import ImagesApi
from nemutator_controller.images.failures import ImageUnreadableError
from nemutator_controller.images.reading import ImageReading
from nemutator_controller.images.references import parse_image
from nemutator_controller.mutations.image_commands import ImageCommand
from nemutator_controller.settings.brain import BrainSettings

from tests.certificates import Authority
from tests.controller.images.test_reading import Brain
from tests.fakes.brains import standing_brain
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process


def client(reading: ImageReading | None, meter: MemoryMeter) -> TestClient[Any, Any]:
    app = web.Application()
    app.add_routes([route.route for route in ImagesApi(reading, meter).routes()])
    return TestClient(TestServer(app))


async def test_an_image_is_asked_for_and_comes_with_the_next_list() -> None:
    brain, meter = Brain(), MemoryMeter()
    brain.put("a.b/web:1", ImageCommand(("/e",), ("serve",)))
    async with client(brain.reading, meter) as admission:
        assert (await admission.get(IMAGES_PATH)).status == 503
        async with brain.running():
            first = await admission.get(IMAGES_PATH)
            assert (first.status, await first.json()) == (
                200,
                {"reads": True, "images": [], "digests": {}, "full": False},
            )
            same = await admission.get(
                IMAGES_PATH, headers={"If-None-Match": first.headers["ETag"]}
            )
            assert same.status == 304
            body = msgspec.json.encode(ImageQuestions(("a.b/web:1",)))
            assert (await admission.post(IMAGES_PATH, data=body)).status == 200
            await brain.clock.advance(2)
            after = await admission.get(
                IMAGES_PATH, headers={"If-None-Match": first.headers["ETag"]}
            )
            found = await after.json()
            assert [one["entrypoint"] for one in found["images"]] == [["/e"]]
            assert found["digests"] == {"a.b/web:1": "d"}
    assert parse_image("a.b/web:1") in brain.registry.reads


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "malformed"),
        (msgspec.json.encode(ImageQuestions(("x",) * (MOST_IMAGE_QUESTIONS + 1))), "bounds"),
    ],
)
async def test_what_is_no_question_is_refused(body: bytes, reason: str) -> None:
    meter = MemoryMeter()
    async with client(Brain().reading, meter) as admission:
        assert (await admission.post(IMAGES_PATH, data=body)).status == 400
    assert meter.value(names.BATCHES_REFUSED, reason=reason) == 1


async def test_a_brain_without_the_setting_reads_none(tmp_path: Path) -> None:
    async with asyncio.timeout(60), standing_brain(tmp_path / "data") as brain:
        body = msgspec.json.encode(ImageQuestions(("a.b/web:1",)))
        async with brain.local.post(IMAGES_PATH, data=body) as answer:
            assert answer.status == 200
        async with brain.local.get(IMAGES_PATH) as answer:
            assert await answer.json() == {
                "reads": False,
                "images": [],
                "digests": {},
                "full": False,
            }


def test_settings_name_registries_and_their_authorities(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    ca.write_text(Authority("registries").certificate)
    settings = BrainSettings(
        data_dir=tmp_path, image_registries="docker.io", image_registry_ca=str(ca)
    )
    assert allowed_registries(settings).origin("docker.io") == "https://registry-1.docker.io"
    assert registry_authorities(settings) is not None
    ca.write_text("nothing")
    with pytest.raises(OperatorError, match="has no certificates"):
        registry_authorities(settings)
    with pytest.raises(OperatorError, match=r"brain\.image_registries: expected hosts"):
        allowed_registries(BrainSettings(data_dir=tmp_path, image_registries="https://x"))


async def test_a_pull_secret_is_read_again_and_a_bad_one_ends_a_start_alone(tmp_path: Path) -> None:
    clock = ManualClock()
    process, file = fake_process(clock=clock), tmp_path / ".dockerconfigjson"
    settings = BrainSettings(data_dir=tmp_path, image_pull_secret_file=str(file))
    image = parse_image("registry.example/web")
    with pytest.raises(OperatorError, match=r"brain\.image_pull_secret_file: .*No such file"):
        registry_passwords(settings, process)
    file.write_text("hunter2")
    with pytest.raises(OperatorError, match="expected a file as") as refused:
        registry_passwords(settings, process)
    assert "hunter2" not in str(refused.value)
    file.write_text('{"auths": {"registry.example": {"username": "me", "password": "word"}}}')
    now = registry_passwords(settings, process)
    assert now().of(image) is not None
    await clock.advance(READ_AGAIN_S)
    file.write_text("torn")
    with pytest.raises(ImageUnreadableError, match="expected a file as") as failure:
        now()
    assert failure.value.reason == "pull_secret"
    assert registry_passwords(BrainSettings(data_dir=tmp_path), process)().of(image) is None

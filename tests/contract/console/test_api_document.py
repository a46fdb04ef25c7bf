"""The document of the API says what a brain does: its paths, its permissions, the shapes of its answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nemutator_common.data_directory import DataDirectory
from nemutator_controller.access.permissions import Permission
from nemutator_controller.access.routes import AllowedRoute
from nemutator_controller.app.api_paths import PATHS
from nemutator_controller.app.brain import brain_parts
from nemutator_controller.app.context import BrainContext
from nemutator_controller.console.open_api import ApiPath, ApiRefusal, answer_types
from nemutator_controller.evictions.endpoint import EvictionsApi
from nemutator_controller.rolling.endpoint import RollsApi
from nemutator_controller.settings.brain import BrainSettings

from tests.fakes.brains import standing_brain
from tests.fakes.databases import opened
from tests.fakes.process import fake_process

NOBODY: Any = None
IN_A_CLUSTER_ALONE = (
    EvictionsApi(NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY),
    RollsApi(NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY),
)

Said = dict[tuple[str, str], Permission]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Said]:
    """What brains serve, here and in clusters."""
    with opened(tmp_path / "x.db") as database:
        context = BrainContext(
            settings=BrainSettings(data_dir=tmp_path),
            process=fake_process(directory=DataDirectory(tmp_path)),
            database=database,
            cluster=None,
        )
        here = [route for part in brain_parts(context, lambda: "") for route in part.routes]
        there = [route for api in IN_A_CLUSTER_ALONE for route in api.routes()]
        yield {named(one): one.permission for one in (*here, *there)}


def named(route: AllowedRoute) -> tuple[str, str]:
    return route.route.method, route.route.path


def test_it_has_every_path_with_its_permission_and_no_other(served: Said) -> None:
    said = {(one.method, one.path): one.permission for one in PATHS}
    assert said == served
    assert len(said) == len(PATHS), "each once"


async def test_what_a_brain_answers_has_the_shape_that_it_says(tmp_path: Path) -> None:
    asked = [one for one in PATHS if one.method == "GET" and "{" not in one.path]
    async with standing_brain(tmp_path / "data") as brain:
        answered = 0
        for path in asked:
            async with brain.local.get(path.path) as answer:
                body = await answer.read()
                answered += answer.status == path.status
                assert fits(body, path, refused=answer.status != path.status), (path.path, body)
        assert answered > len(asked) / 2
        # What no handler answers is refused in the same shape.
        async with brain.local.get("/api/v1/nothing") as answer:
            refused = msgspec.json.decode(await answer.read(), type=ApiRefusal)
            assert (answer.status, refused.what) == (404, "not found")
        async with brain.local.delete("/api/v1/nodes") as answer:
            assert answer.status == 405
            assert (
                "openapi.json" in msgspec.json.decode(await answer.read(), type=ApiRefusal).remedy
            )


def fits(body: bytes, path: ApiPath, *, refused: bool) -> bool:
    for kind in [ApiRefusal] if refused else answer_types(path):
        try:
            msgspec.json.decode(body, type=kind)
        except msgspec.ValidationError:
            continue
        return True
    return False

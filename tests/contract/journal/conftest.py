"""The journal's adapters meet the same API servers as our client does; and a brain that stands where there is no cluster."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contract.journal.standing_files import Standing
from tests.contract.kube.conftest import client, place, variant
from tests.fakes.brains import standing_brain
from tests.fakes.command_lines import CommandLine

__all__ = ["client", "place", "standing", "variant"]


@pytest.fixture
async def standing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> AsyncIterator[Standing]:
    root = tmp_path / "data"
    async with standing_brain(root) as brain:
        yield Standing(brain, root, CommandLine(root, capsys))

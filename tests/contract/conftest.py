from pathlib import Path

import pytest

from tests.fakes.command_lines import CommandLine


@pytest.fixture
def nemutator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Asks the brain whose directory is `data` in the test's own."""
    return CommandLine(tmp_path / "data", capsys)

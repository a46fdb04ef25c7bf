from pathlib import Path

import pytest

from tests.contract.credentials.standalone import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "data")

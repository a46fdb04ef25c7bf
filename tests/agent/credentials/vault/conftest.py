from pathlib import Path

import pytest

from tests.agent.credentials.vault.mortal_machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)

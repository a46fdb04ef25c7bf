"""What a process gives its parts; tests/contract/core proves the real one."""

import dataclasses

import pytest

from tests.fakes.process import fake_process


def test_a_part_cannot_replace_what_the_others_use() -> None:
    process = fake_process()
    with pytest.raises(dataclasses.FrozenInstanceError):
        process.clock = process.clock  # type: ignore[misc]

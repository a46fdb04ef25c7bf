import json
from pathlib import Path

import pytest
from nemutator_agent.inspection.detected_runtime import UNKNOWN, DetectedRuntime
from nemutator_agent.inspection.examination import examine

from tests.fakes.elf_files import Forge, inline_info

GOLDEN = Path(__file__).parents[2] / "golden" / "go"


@pytest.mark.parametrize("recording", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_what_go_really_builds_is_known(recording: Path) -> None:
    told = json.loads(recording.read_text())
    reads = {(offset, size): bytes.fromhex(content) for offset, size, content in told["reads"]}
    assert examine(lambda offset, size: reads[offset, size]) == DetectedRuntime(
        "go", told["version"]
    )


def test_go_is_there_in_every_way_of_building() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} >= {"plain", "stripped", "pie", "arm"}


def test_an_embedded_python_is_known_by_its_library() -> None:
    content = Forge(needed=(b"libpython3.11.so.1.0",)).build()
    assert examine(lambda at, size: content[at : at + size]) == DetectedRuntime("python", "3.11")


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", bytes(4096), b"MZ" + bytes(100)])
def test_what_is_no_elf_is_unknown(content: bytes) -> None:
    assert examine(lambda at, size: content[at : at + size]) == UNKNOWN


def test_a_version_that_nobody_may_print_is_left_out() -> None:
    forge = Forge(contents=[(b".go.buildinfo", inline_info(b"go1.\x1b[2J"))])
    content = forge.build()
    assert examine(lambda at, size: content[at : at + size]) == DetectedRuntime("go", None)

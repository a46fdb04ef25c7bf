"""bcc as we run it: where it is, and what is said when it cannot compile."""

import os
from pathlib import Path

import pytest
from nemutator_agent.profiler import bcc, bpf_maps
from nemutator_agent.profiler.kernel_programs import SHARED_MAPS, refused
from nemutator_agent.profiler.libbpf import Libbpf, LibbpfError
from nemutator_agent.profiler.refusals import ProfileRefused

RELEASE = "5.10.0-30-amd64"


def test_it_is_there_when_its_package_is(tmp_path: Path) -> None:
    assert not bcc.is_installed(tmp_path)
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/python3").touch()
    assert not bcc.is_installed(tmp_path)
    (tmp_path / "usr/lib/python3/dist-packages/bcc").mkdir(parents=True)
    (tmp_path / "usr/lib/python3/dist-packages/bcc/__init__.py").touch()
    assert bcc.is_installed(tmp_path)


def test_headers_are_those_of_the_kernel_that_runs_or_its_own(tmp_path: Path) -> None:
    (tmp_path / "lib/modules/5.10.0-29-amd64/build/include").mkdir(parents=True)
    assert not bcc.has_headers(RELEASE, tmp_path)
    (tmp_path / f"lib/modules/{RELEASE}/build/include").mkdir(parents=True)
    assert bcc.has_headers(RELEASE, tmp_path)
    (tmp_path / "sys/kernel").mkdir(parents=True)
    (tmp_path / "sys/kernel/kheaders.tar.xz").touch()
    assert bcc.has_headers("6.6.1", tmp_path)


@pytest.mark.e2e
def test_a_compiler_that_fails_is_quoted_and_leaves_nothing() -> None:
    files = len(os.listdir("/proc/self/fd"))
    wish = bpf_maps.WISH.pack(1, 2, 1, 0, 127, 0)
    libbpf = Libbpf()
    with pytest.raises(LibbpfError) as failure:
        # There is no such map, wherever this runs.
        bcc.load(
            libbpf, "sample", "PERF_EVENT", maps=(*SHARED_MAPS, "nosuch"), wish=wish, entries={}
        )
    assert failure.value.call == "bcc"
    assert failure.value.messages
    refusal = refused(failure.value)
    assert isinstance(refusal, ProfileRefused)
    assert "headers" in str(refusal)
    assert len(os.listdir("/proc/self/fd")) == files

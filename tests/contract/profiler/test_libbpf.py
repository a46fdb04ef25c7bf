"""libbpf as we call it: absent, another library, and with wrong arguments."""

import gc
import os
from concurrent.futures import ThreadPoolExecutor

import nemutator_bpf
import pytest
from nemutator_agent.profiler import bpf_maps
from nemutator_agent.profiler.libbpf import Libbpf, LibbpfError
from nemutator_agent.profiler.refusals import ProfileRefused


def test_a_library_that_is_absent_is_named_with_its_package() -> None:
    with pytest.raises(ProfileRefused, match=r"libnosuch\.so\.9 is not installed") as refusal:
        Libbpf("libnosuch.so.9")
    assert refusal.value.reason == "libbpf"
    assert "apt-get install libbpf1" in str(refusal.value)


def test_another_library_is_not_taken_for_it() -> None:
    with pytest.raises(ProfileRefused, match=r"libc\.so\.6 cannot be used"):
        Libbpf("libc.so.6")


@pytest.mark.e2e
@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF" + bytes(200), b"no object at all"])
def test_what_is_no_object_is_refused_with_the_messages_of_libbpf(content: bytes) -> None:
    with pytest.raises(LibbpfError) as error:
        Libbpf().load(content, constants=b"")
    assert error.value.call == "bpf_object__open_mem"
    assert error.value.errno > 0
    assert not content.startswith(b"no") or any("ELF" in line for line in error.value.messages)


@pytest.mark.e2e
def test_the_messages_of_a_failure_are_those_of_its_caller() -> None:
    first, second = Libbpf(), Libbpf()
    with pytest.raises(LibbpfError) as error:
        first.load(b"no object at all", constants=b"")
    assert any("ELF" in line for line in error.value.messages)
    # What libbpf prints with must outlive whoever has set it.
    del second
    gc.collect()
    with ThreadPoolExecutor(1) as pool, pytest.raises(LibbpfError) as error:
        pool.submit(first.load, b"no object at all", constants=b"").result()
    assert any("ELF" in line for line in error.value.messages)


@pytest.mark.e2e
def test_constants_of_another_size_are_not_written() -> None:
    content = nemutator_bpf.program("sample", os.uname().machine)
    with pytest.raises(LibbpfError, match="Message too long"):
        Libbpf().load(content, constants=b"short")


@pytest.mark.e2e
def test_what_is_not_in_an_object_is_an_error_and_no_crash() -> None:
    content = nemutator_bpf.program("sample", os.uname().machine)
    loaded = Libbpf().load(content, constants=bpf_maps.WISH.pack(1, 0, 1, 0, 127, 0))
    try:
        with pytest.raises(LibbpfError):
            loaded.put("no such map", b"", b"")
        with pytest.raises(LibbpfError):
            loaded.program_fd("no such program")
        assert list(loaded.drain("stacks", key_size=8, value_size=1024, batch=16)) == []
    finally:
        loaded.close()
        loaded.close()


@pytest.mark.e2e
def test_a_map_is_drained_however_many_batches_it_takes() -> None:
    content = nemutator_bpf.program("sample", os.uname().machine)
    loaded = Libbpf().load(content, constants=bpf_maps.WISH.pack(1, 0, 1, 0, 127, 0))
    try:
        wanted = {
            bpf_maps.TGID.pack(number): bpf_maps.TEXT.pack(number, number + 1)
            for number in range(1000)
        }
        for key, value in wanted.items():
            loaded.put("texts", key, value)
        drained = list(loaded.drain("texts", key_size=4, value_size=16, batch=64))
        assert len(drained) == len(wanted)
        assert dict(drained) == wanted
        assert list(loaded.drain("texts", key_size=4, value_size=16, batch=64)) == []
    finally:
        loaded.close()

import struct

from nemutator_agent.profiler.heap.runtime_variables import RuntimeVariables, find
from nemutator_agent.profiler.symbols.go_symbols import GoSymbols

from tests.agent.profiler.symbols.files import image
from tests.fakes.go_programs import TEXT, Function, GoProgram, address

BUCKETS, RATE, CYCLE, LOCK = 0x7000_10, 0x7000_20, 0x7000_30, 0x7000_40
SIZE = 0x20


def loads(number: int, *, wide: tuple[int, ...] = (), narrow: tuple[int, ...] = ()) -> bytes:
    """The code of the function *number*."""
    code = bytearray()
    for variable in (*wide, *narrow):
        prefix = b"\x48" if variable in wide else b"\x90"
        at = address(number * SIZE) + len(code)
        code += prefix + b"\x8b\x05" + struct.pack("<i", variable - at - 7)
    return bytes(code).ljust(SIZE, b"\x90")


def program(functions: dict[str, bytes]) -> GoSymbols:
    made = GoProgram(functions=tuple(Function(name, SIZE) for name in functions))
    content = bytearray(made.build())
    content[TEXT : TEXT + SIZE * len(functions)] = b"".join(functions.values())
    return GoSymbols(image(bytes(content)))


def test_a_variable_is_what_all_load_that_use_it() -> None:
    go = program(
        {
            "runtime.allocmcache": loads(0, wide=(RATE, LOCK)),
            "runtime.profilealloc": loads(1, wide=(RATE,)),
            "runtime.mProf_Malloc": loads(2, narrow=(CYCLE, LOCK)),
            "runtime.mProf_FlushLocked": loads(3, wide=(BUCKETS,)),
            "runtime.memProfileInternal": loads(4, wide=(BUCKETS, LOCK), narrow=(CYCLE,)),
            "main.main": loads(5, wide=(0x700100,)),
        }
    )
    assert find(go) == RuntimeVariables((BUCKETS,), (RATE,), (CYCLE,), is_linked=True)


def test_before_go_123_the_reader_has_another_name() -> None:
    go = program(
        {
            "runtime.mProf_FlushLocked": loads(0, wide=(BUCKETS, LOCK)),
            "runtime.MemProfile": loads(1, wide=(BUCKETS, LOCK)),
        }
    )
    assert find(go) == RuntimeVariables((BUCKETS, LOCK), (), (), is_linked=True)


def test_until_go_118_what_publishes_reads_the_cycle_itself() -> None:
    go = program(
        {
            "runtime.mProf_Malloc": loads(0, narrow=(CYCLE, LOCK)),
            "runtime.mProf_Free": loads(1, narrow=(CYCLE,)),
            "runtime.mProf_FlushLocked": loads(2, wide=(BUCKETS,), narrow=(CYCLE,)),
            "runtime.MemProfile": loads(3, wide=(BUCKETS,), narrow=(LOCK,)),
        }
    )
    assert find(go) == RuntimeVariables((BUCKETS,), (), (CYCLE,), is_linked=True)


def test_a_program_that_does_not_use_the_profile_does_not_have_its_reader() -> None:
    go = program({"runtime.allocmcache": loads(0, wide=(RATE,)), "runtime.MemProfileX": loads(1)})
    assert find(go) == RuntimeVariables((), (RATE,), (), is_linked=False)

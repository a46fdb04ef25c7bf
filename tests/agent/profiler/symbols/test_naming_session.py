from nemutator_agent.profiler.symbols.naming_session import NamingSession


def test_notes_are_kept_by_file_once() -> None:
    session = NamingSession(ends_at=1.0, most_cpu_s=1.0)
    for file, note in (("shop", "late"), ("shop", "late"), ("shop", "cut"), ("libc.so.6", "late")):
        session.note(file, note)
    assert session.notes == {"shop": {"late", "cut"}, "libc.so.6": {"late"}}

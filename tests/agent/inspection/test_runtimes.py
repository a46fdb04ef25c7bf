import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.detected_runtime import UNKNOWN, DetectedRuntime
from nemutator_agent.inspection.runtimes import by_libraries, by_name, together


@pytest.mark.parametrize(
    ("executable", "detected"),
    [
        ("/usr/bin/python3.11", DetectedRuntime("python", "3.11")),
        ("/usr/bin/python3.11 (deleted)", DetectedRuntime("python", "3.11")),
        ("/srv/.pyenv/versions/3.12.4/bin/python3.12", DetectedRuntime("python", "3.12")),
        ("/opt/venv/bin/python", DetectedRuntime("python", None)),
        ("/usr/lib/jvm/java-17-openjdk-amd64/bin/java", DetectedRuntime("java", "17")),
        ("/opt/jdk-21.0.2/bin/java", DetectedRuntime("java", "21.0.2")),
        ("/usr/bin/java", DetectedRuntime("java", None)),
        ("/srv/.nvm/versions/node/v18.19.0/bin/node", DetectedRuntime("node", "18.19.0")),
        ("/usr/bin/node", DetectedRuntime("node", None)),
        ("/usr/bin/ruby3.1", DetectedRuntime("ruby", "3.1")),
        ("/srv/.rbenv/versions/3.3.1/bin/ruby", DetectedRuntime("ruby", "3.3.1")),
        ("/usr/sbin/php-fpm8.2", DetectedRuntime("php", "8.2")),
        ("/usr/bin/php8.2", DetectedRuntime("php", "8.2")),
        ("/usr/share/dotnet/dotnet", DetectedRuntime("dotnet", None)),
        ("/usr/bin/perl", DetectedRuntime("perl", None)),
        ("/usr/bin/bash", DetectedRuntime("shell", None)),
        ("dash", DetectedRuntime("shell", None)),
        ("/usr/bin/pythonic", UNKNOWN),
        ("/usr/bin/javac", UNKNOWN),
        ("/usr/bin/sshd", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_a_name_says_what_it_is(executable: str, detected: DetectedRuntime) -> None:
    assert by_name(executable) == detected


def test_a_linked_library_tells_an_embedded_runtime() -> None:
    libc = b"libc.so.6"
    assert by_libraries([b"libpython3.11.so.1.0", libc]) == DetectedRuntime("python", "3.11")
    assert by_libraries([b"libruby-3.1.so.3.1"]) == DetectedRuntime("ruby", "3.1")
    assert by_libraries([b"libnode.so.108"]) == DetectedRuntime("node", None)
    assert by_libraries([b"libperl.so.5.36"]) == DetectedRuntime("perl", "5.36")
    assert by_libraries([libc]) == UNKNOWN


def test_an_editor_with_several_is_none_of_them() -> None:
    assert by_libraries([b"libpython3.11.so.1.0", b"libperl.so.5.36"]) == UNKNOWN


def test_content_and_name_complete_each_other() -> None:
    python = DetectedRuntime("python", "3.11")
    assert together(name=UNKNOWN, content=python) == python
    assert together(name=DetectedRuntime("python", None), content=python) == python
    assert together(name=python, content=DetectedRuntime("python", None)) == python
    assert together(name=python, content=UNKNOWN) == python
    go = DetectedRuntime("go", "go1.26.8")
    assert together(name=DetectedRuntime("node", "18"), content=go) == go


@given(st.text(max_size=300), st.lists(st.binary(max_size=100)))
def test_any_name_is_answered(executable: str, libraries: list[bytes]) -> None:
    by_name(executable)
    by_libraries(libraries)

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.settings import LogLevel
from nemutator_ctl.settings import UpSettings
from nemutator_ctl.up.command_lines import Command, Typed, child, program, raised, sample

DATA = Path("/data")


def options(command: Command) -> set[str]:
    return {word for word in command.argv if word.startswith("--")}


def test_a_child_is_our_own_python_and_takes_no_module_from_the_current_directory() -> None:
    assert program("/venv/python", "brain") == ("/venv/python", "-P", "-m", "nemutator_controller")
    assert program("/venv/python", "observe")[-1] == "nemutator_agent"


def test_a_child_gets_a_lifeline_and_the_directory() -> None:
    made = child("python", "observe", UpSettings(), data_dir=DATA, config=None)
    assert {"--lifeline=true", "--data-dir=/data", "--log-level=warning"} <= options(made)
    assert made.argv[4] == "observe"
    assert not made.raised


def test_settings_reach_whom_they_are_for() -> None:
    settings = UpSettings(console="127.0.0.1:0", children_log_level=LogLevel.DEBUG)
    brain = child("python", "brain", settings, data_dir=DATA, config=Path("/c.toml"))
    observe = child("python", "observe", settings, data_dir=DATA, config=Path("/c.toml"))
    assert {"--console=127.0.0.1:0", "--config=/c.toml", "--log-level=debug"} <= options(brain)
    assert {"--config=/c.toml", "--log-level=debug"} <= options(observe)
    assert not any(word.startswith("--console") for word in options(observe))


@given(st.text())
def test_no_value_can_be_taken_for_an_option(name: str) -> None:
    settings = UpSettings(console=name)
    made = child("python", "brain", settings, data_dir=Path("-x"), config=None)
    assert all(word.startswith("--") and "=" in word for word in made.argv[5:])


def test_what_sudo_drops_of_the_environment_becomes_options() -> None:
    plain = Command(("python", "-m", "nemutator_agent", "observe"))
    environment = {
        "NEMUTATOR_OBSERVE_INTERVAL_S": "2",
        "NEMUTATOR_BRAIN_CONSOLE": "[::1]:1",
        "LD_PRELOAD": "/evil.so",
        "PYTHONPATH": "/evil",
    }
    made = raised(plain, "/usr/bin/sudo", role="observe", environment=environment)
    assert made.argv == ("/usr/bin/sudo", "-n", "--", *plain.argv, "--interval-s=2")
    assert made.raised


def test_the_sample_ends_with_its_standard_input() -> None:
    assert sample(Path("/demo shop")) == Command(("/demo shop", "--lifeline"))


def test_a_command_can_be_copied_whatever_the_directory_is_called() -> None:
    typed = Typed("nemutator", Path("/a b"), named=True)
    assert typed.command("topology") == "nemutator topology --data-dir '/a b'"
    assert Typed("nemutator", Path("/a b"), named=False).command("link") == "nemutator link"

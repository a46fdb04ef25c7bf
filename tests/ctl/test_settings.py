import pytest
from nemutator_common.errors import OperatorError
from nemutator_common.settings import LogLevel, resolve
from nemutator_ctl.settings import Privileges, UpSettings


def test_without_a_word_nothing_is_raised_unasked_and_children_are_quiet() -> None:
    settings = UpSettings()
    assert settings.privileges is Privileges.ASK
    assert settings.children_log_level is LogLevel.WARNING
    assert settings.console is None


def test_a_bad_value_names_the_good_ones() -> None:
    with pytest.raises(OperatorError, match="ask, always, never"):
        resolve(UpSettings, file={}, environment={"NEMUTATOR_UP_PRIVILEGES": "yes"}, flags={})

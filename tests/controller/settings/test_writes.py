import pytest
from nemutator_common.settings import SettingsError, resolve
from nemutator_controller.settings.brain import BrainSettings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("restarts_per_minute", "0"),
        ("evictions_per_minute", "0"),
        ("evictions_per_node", "0"),
        ("evictions_per_workload", "0"),
        ("live_writes_per_minute", "0"),
        ("unit_folder", "units"),
    ],
)
def test_a_budget_of_nothing_and_a_relative_folder_are_refused(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match="--" + name.replace("_", "-")):
        resolve(BrainSettings, file={}, environment={}, flags={name: value})

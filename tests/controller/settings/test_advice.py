import pytest
from nemutator_common.settings import SettingsError, resolve
from nemutator_controller.settings.brain import BrainSettings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("advice_cpu_percentile", "101"),
        ("advice_memory_buffer", "-1"),
        ("advice_window_days", "0"),
        ("sized_containers", "0"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match="--" + name.replace("_", "-")):
        resolve(BrainSettings, file={}, environment={}, flags={name: value})

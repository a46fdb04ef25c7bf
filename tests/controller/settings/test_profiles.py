import pytest
from nemutator_common.settings import SettingsError, resolve
from nemutator_controller.settings.brain import BrainSettings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("windows_s", "1"),
        ("exports", "usage,secrets"),
        ("pyroscope", "pyroscope"),
        ("objects", "s3:bucket"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match="--" + name.replace("_", "-")):
        resolve(BrainSettings, file={}, environment={}, flags={name: value})


def test_chosen_namespaces_are_a_list() -> None:
    assert BrainSettings(window_namespaces="shop, bank").chosen_namespaces == ("shop", "bank")

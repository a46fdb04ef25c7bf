import pytest
from nemutator_common.settings import SettingsError, resolve
from nemutator_controller.settings.brain import BrainSettings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tokens_redis", "http://redis"),
        ("image_refresh_s", "1"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match="--" + name.replace("_", "-")):
        resolve(BrainSettings, file={}, environment={}, flags={name: value})

import pytest
from nemutator_common.settings import SettingsError, resolve
from nemutator_controller.settings.brain import BrainSettings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("database", "mysql://db/x"),
        ("database", "postgresql://u:word@db/x"),
        ("database_bytes", "1"),
        ("cluster_name", "West"),
        ("history_containers", "-1"),
    ],
)
def test_no_password_stands_in_an_address_and_nothing_is_kept_in_no_room(
    name: str, value: str
) -> None:
    with pytest.raises(SettingsError, match="--" + name.replace("_", "-")):
        resolve(BrainSettings, file={}, environment={}, flags={name: value})

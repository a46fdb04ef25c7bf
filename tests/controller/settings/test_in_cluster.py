import pytest
from nemutator_common.settings import SettingsError, resolve
from nemutator_controller.settings.brain import BrainSettings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("namespace", "Kube_System"),
        ("agent_account", "a b"),
        ("uplink", "https://brain"),
        ("server_names", "a b"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match="--" + name.replace("_", "-")):
        resolve(BrainSettings, file={}, environment={}, flags={name: value})


def test_further_names_are_a_list() -> None:
    assert BrainSettings(server_names="a.example, ::1 ,").further_names == ("a.example", "::1")

import pytest
from nemutator_common.settings import SettingsError, resolve
from nemutator_controller.settings.admission import AdmissionSettings


@pytest.mark.parametrize(
    ("name", "value"), [("address", "8443"), ("spool_bytes", "1"), ("brain", "x")]
)
def test_what_cannot_be_is_refused_by_its_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match="--" + name.replace("_", "-")):
        resolve(AdmissionSettings, file={}, environment={}, flags={name: value})


def test_allowed_clients_are_all_names_or_everybody() -> None:
    assert AdmissionSettings(client_names="kube-apiserver, front").allowed_clients == {
        "kube-apiserver",
        "front",
    }
    assert AdmissionSettings().allowed_clients == frozenset()

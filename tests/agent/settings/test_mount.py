from pathlib import Path

import pytest
from nemutator_agent.settings.mount import MountSettings
from nemutator_common.errors import OperatorError
from nemutator_common.settings import resolve


def test_kubelets_root_says_where_the_drivers_directories_are() -> None:
    flags = {"kubelet_root": "/data/kubelet", "driver": "x.io"}
    settings = resolve(MountSettings, file={}, environment={}, flags=flags).values
    assert settings.plugin_directory == Path("/data/kubelet/plugins/x.io")
    assert settings.registry_directory == Path("/data/kubelet/plugins_registry")
    flags |= {"plugin_dir": "/a", "registry_dir": "/b"}
    settings = resolve(MountSettings, file={}, environment={}, flags=flags).values
    assert (settings.plugin_directory, settings.registry_directory) == (Path("/a"), Path("/b"))


@pytest.mark.parametrize(
    ("name", "value"),
    [("kubelet_root", "relative"), ("plugin_dir", "/a/../b"), ("driver", "x/y"), ("driver", "..")],
)
def test_a_place_that_is_none_is_named(name: str, value: str) -> None:
    with pytest.raises(OperatorError, match="expected"):
        resolve(MountSettings, file={}, environment={}, flags={name: value})

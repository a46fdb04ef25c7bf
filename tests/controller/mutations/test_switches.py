"""A switch is on or off."""

import msgspec
import pytest
from nemutator_controller.mutations.switches import Switch


def test_a_switch_is_on_or_off() -> None:
    assert msgspec.convert({"set": False}, Switch) == Switch(set=False)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({}, Switch)

import tomllib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_ctl.installation import files
from nemutator_ctl.installation.settings_text import as_toml, settings_of

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=12)
SCALARS = st.booleans() | st.integers(-(2**62), 2**62) | WORDS | st.floats(-1e9, 1e9)
NAMES = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
TABLES = st.dictionaries(NAMES, SCALARS | st.dictionaries(NAMES, SCALARS, max_size=4), max_size=4)


@settings(max_examples=60)
@given(TABLES)
def test_what_is_written_is_read_back_whatever_it_is(found: dict[str, Any]) -> None:
    assert tomllib.loads(as_toml(found)) == found


def test_values_win_over_the_manifests_and_settings_over_values() -> None:
    values = files.shipped().values | {"settings": {"brain": {"profiles": 7}, "log_level": "debug"}}
    made = settings_of(
        {"credentials": {"vault_address": "https://old", "brain": "https://b"}},
        values,
        init_image="agent:1",
        ports={"brain": 9468},
    )
    assert made["credentials"] == {
        "vault_address": "https://vault.vault.svc:8200",
        "brain": "https://b",
    }
    assert made["brain"] == {"profiles": 7}
    assert made["admission"] == {"init_image": "agent:1"}
    assert as_toml(made).startswith('log_level = "debug"\n\n[')


def test_ports_for_scrapers_are_opened_when_that_is_asked_for() -> None:
    values = files.shipped().values
    values = values | {"metrics": {"enabled": True, "address": "[::]"}, "kubeletRoot": "/k"}
    made = settings_of({}, values, init_image="", ports={"brain": 9468, "mount": 9464})
    assert made["brain"] == {"metrics": "[::]:9468"}
    assert made["mount"] == {"kubelet_root": "/k", "metrics": "[::]:9464"}

"""pip inside of a build is told what it is told on this machine."""

import configparser
import stat
from pathlib import Path

from tests.testbed.building.pip_settings import AUTHORITIES_INSIDE, SETTINGS_INSIDE, lent, settled

FILE = "[global]\nindex-url = https://index.example/simple\ncert = /etc/own.pem\ntimeout = 5\n"


def test_nothing_said_is_nothing_lent() -> None:
    assert settled([], {}) == {}


def test_a_later_file_and_then_the_environment_win() -> None:
    found = settled(
        [FILE, "[global]\ncert = /srv/own.pem\n"], {"PIP_INDEX_URL": "https://b.example"}
    )
    assert found == {"index-url": "https://b.example", "cert": "/srv/own.pem"}


def test_authorities_that_are_named_for_all_programs_are_pips_too() -> None:
    assert settled([], {"SSL_CERT_FILE": "/all.pem"}) == {"cert": "/all.pem"}
    assert settled([FILE], {"SSL_CERT_FILE": "/all.pem"})["cert"] == "/etc/own.pem"


def test_a_percent_sign_in_a_url_is_only_a_percent_sign() -> None:
    assert settled(["[global]\nproxy = http://a%20b@p.example\n"], {})["proxy"].count("%") == 1


def test_files_are_lent_under_the_names_that_a_build_knows(tmp_path: Path) -> None:
    own = tmp_path / "own.conf"
    own.write_text("[global]\nindex-url = https://who:word@index.example\ncert = /etc/own.pem\n")
    given = lent({"PIP_CONFIG_FILE": str(own)}, tmp_path)
    assert given[Path("/etc/own.pem")] == AUTHORITIES_INSIDE
    (settings,) = (path for path, inside in given.items() if inside == SETTINGS_INSIDE)
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600
    read = configparser.ConfigParser()
    read.read(settings)
    assert read["global"]["index-url"] == "https://who:word@index.example"
    assert read["global"]["cert"] == AUTHORITIES_INSIDE

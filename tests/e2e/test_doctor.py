"""`nemutator doctor` on the real machine, by whoever asks."""

import json
from pathlib import Path

import pytest
import yaml
from nemutator_common.errors import ExitCode

from tests.e2e.standing import ME, Person


@pytest.fixture(params=["as I am", "ordinary"])
def person(request: pytest.FixtureRequest) -> Person:
    if request.param == "as I am":
        return ME
    ordinary: Person = request.getfixturevalue("ordinary")
    return ordinary


def test_every_check_has_an_answer_and_every_lack_a_remedy(person: Person, home: Path) -> None:
    ran = person.run("doctor", "--data-dir", home / "data", "-o", "json")
    assert ran.code == ExitCode.OK, ran.stderr
    assert ran.stderr == ""
    findings = json.loads(ran.stdout)["findings"]
    assert {"kernel", "BTF", "capabilities", "libbpf", "control groups", "swap"} <= {
        finding["check"] for finding in findings
    }
    for finding in findings:
        assert finding["found"]
        if finding["state"] != "ok":
            assert finding["lost"]
            assert finding["remedy"]


def test_all_formats_say_the_same(home: Path) -> None:
    asked = ("doctor", "--data-dir", home / "data", "-o")
    as_json = json.loads(ME.run(*asked, "json").stdout)
    as_yaml = yaml.safe_load(ME.run(*asked, "yaml").stdout)
    table = ME.run(*asked, "table").stdout
    assert as_json.keys() == as_yaml.keys()
    for one, other in zip(as_json["findings"], as_yaml["findings"], strict=True):
        # Not `found`: free space changes between two looks.
        assert (one["check"], one["state"], one["lost"]) == (
            other["check"],
            other["state"],
            other["lost"],
        )
        assert one["check"] in table


def test_an_ordinary_user_is_told_what_root_would_add(ordinary: Person, home: Path) -> None:
    if ordinary is ME:
        pytest.skip("nobody to compare with: these tests do not run as root")
    states = {}
    for person in (ME, ordinary):
        ran = person.run("doctor", "--data-dir", home / "data", "-o", "json")
        for finding in json.loads(ran.stdout)["findings"]:
            states[person.uid, finding["check"]] = finding["state"]
    assert states[ME.uid, "capabilities"] == "ok"
    assert states[ordinary.uid, "capabilities"] == "limited"


def test_a_data_directory_that_cannot_be_used_is_missing(home: Path) -> None:
    (home / "file").touch()
    ran = ME.run("doctor", "--data-dir", home / "file" / "below", "-o", "json")
    assert ran.code == ExitCode.FAILED
    (finding,) = (
        one for one in json.loads(ran.stdout)["findings"] if one["check"] == "data directory"
    )
    assert finding["state"] == "missing"
    assert finding["remedy"]

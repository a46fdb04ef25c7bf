"""What people see of the console, and what they may change there: what RBAC lets them."""

import json
from urllib.parse import urlencode

import pytest

from tests.e2e.testbed.in_cluster.installation import Installation, refusals, without


@pytest.mark.timeout(180)  # a control plane that may be busy, and a process with its imports
def test_people_see_and_change_what_rbac_lets_them(installation: Installation) -> None:
    console = installation.console
    anonymous = installation.ask(console, "/api/v1/topology")
    assert anonymous.status == 401
    form = installation.ask(console, "/")
    assert (form.status, b"<form" in form.body) == (401, True)
    stranger = installation.token("stranger", audience="")
    denied = installation.ask(console, "/api/v1/topology", token=stranger)
    assert denied.status == 403
    assert "may not get topology.nemutator.io" in denied.json["error"]
    viewer = installation.token("viewer", audience="")
    shown = installation.ask(console, "/api/v1/topology", token=viewer)
    assert shown.status == 200, shown.body
    uid = installation.pod("seen", installation.nodes[0], "stranger")
    asked = json.dumps({"target": {"kind": "pod", "value": uid}, "seconds": 1}).encode()
    changing = installation.ask(console, "/api/v1/profiles", token=viewer, body=asked)
    assert changing.status == 403
    assert "may not create profiles.nemutator.io" in changing.json["error"]
    print(f"console: anonymous 401; {denied.json['error']}; {changing.json['error']}")
    assert refusals(installation) == []


@pytest.mark.timeout(180)  # a control plane that may be busy, and a process with its imports
def test_a_browser_signs_in_once(installation: Installation) -> None:
    console, viewer = installation.console, installation.token("viewer", audience="")
    body = urlencode({"token": viewer}).encode()
    kind = "application/x-www-form-urlencoded"
    evil = installation.ask(
        console, "/sign-in", body=body, Content_Type=kind, Origin="https://evil.example.com"
    )
    assert evil.status == 403
    signed = installation.ask(console, "/sign-in", body=body, Content_Type=kind)
    assert signed.status == 303
    cookie = signed.headers["Set-Cookie"].split(";")[0]
    assert viewer not in signed.headers["Set-Cookie"]
    assert installation.ask(console, "/", Cookie=cookie).status == 200
    assert installation.ask(console, "/api/v1/topology", Cookie=cookie).status == 200
    without(viewer, installation)

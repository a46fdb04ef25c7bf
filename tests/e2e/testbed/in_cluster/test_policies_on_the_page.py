"""A policy is made and edited on the page, on a real API server: tried on what runs there, and saved by the person."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browsing import PATIENCE_MS
from tests.e2e.testbed.in_cluster.installation import Installation, without
from tests.e2e.testbed.webhook import define
from tests.testbed.running.ports import LOOPBACK

NAME = "made-on-the-page"
EDITOR = "editor"


@pytest.fixture
def editor(installation: Installation) -> Iterator[str]:
    """A token of somebody who may do what kubectl lets them do to policies, and list what they are for."""
    cluster, namespace = installation.cluster, installation.namespace
    define(cluster)
    role = f"{EDITOR}-{namespace}"
    cluster.kubectl("create", "serviceaccount", EDITOR, f"--namespace={namespace}")
    cluster.apply(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": role},
            "rules": [
                {
                    "apiGroups": ["nemutator.io"],
                    "resources": ["mutationpolicies"],
                    "verbs": ["get", "list", "create", "update", "patch"],
                },
                {"apiGroups": [""], "resources": ["pods", "namespaces"], "verbs": ["list"]},
            ],
        }
    )
    who = f"--serviceaccount={namespace}:{EDITOR}"
    cluster.kubectl("create", "clusterrolebinding", role, f"--clusterrole={role}", who)
    yield installation.token(EDITOR, audience="")
    cluster.kubectl("delete", "mutationpolicy", NAME, "--ignore-not-found")
    cluster.kubectl("delete", f"clusterrolebinding/{role}", f"clusterrole/{role}")


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    # The authority is the installation's own.
    context = chromium.new_context(ignore_https_errors=True)
    context.set_default_timeout(PATIENCE_MS)
    yield context.new_page()
    context.close()


def document(namespace: str, team: str) -> dict[str, Any]:
    return {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "MutationPolicy",
        "metadata": {"name": NAME},
        "spec": {
            "mode": "Apply",
            "applyTo": "pod",
            "match": {"namespaces": [namespace]},
            "mutations": [{"labels": {"set": {"team": team}}}],
        },
    }


@pytest.mark.timeout(180)  # a control plane that may be busy, and a process with its imports
def test_a_person_makes_and_edits_a_policy(
    installation: Installation, page: Page, editor: str
) -> None:
    cluster, namespace = installation.cluster, installation.namespace
    installation.pod("labelled", installation.nodes[0], "stranger")
    page.goto(f"https://{LOOPBACK}:{installation.console}/")
    page.get_by_label("A token of yours").fill(editor)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Policies").click()
    page.get_by_role("button", name="New policy").click()
    text, lines = page.locator("#policy-text"), page.locator("#policy-lines")
    tries, save = (
        page.get_by_role("button", name="Try on what runs"),
        page.get_by_role("button", name="Save"),
    )
    text.fill(json.dumps(document(namespace, "blue")))
    tries.click()
    expect(lines).to_contain_text(f"Pod {namespace}/labelled")
    expect(lines).to_contain_text('"blue"')
    save.click()
    expect(page.locator("#list-outcome")).to_have_text(f"{NAME}: created")
    saved = cluster.get("mutationpolicy", NAME)
    assert saved["spec"] == document(namespace, "blue")["spec"]

    edit = page.locator("#list-rows tr", has_text=NAME).get_by_role("button", name="Edit")
    edit.click()
    text.fill(json.dumps(document(namespace, "green")))
    tries.click()
    expect(lines).to_contain_text('"green"')
    merged = json.dumps({"spec": {"mode": "Preview"}})
    cluster.kubectl("patch", "mutationpolicy", NAME, "--type=merge", f"--patch={merged}")
    save.click()
    expect(page.locator("#policy-outcome")).to_contain_text("changed")
    assert cluster.get("mutationpolicy", NAME)["spec"]["mode"] == "Preview"
    page.get_by_role("button", name="Leave it").locator("visible=true").click()

    expect(page.locator("#list-rows tr", has_text=NAME)).to_contain_text("Preview")
    edit.click()
    text.fill(json.dumps(document(namespace, "green")))
    tries.click()
    expect(lines).to_contain_text('"green"')
    save.click()
    expect(page.locator("#list-outcome")).to_have_text(f"{NAME}: changed")
    assert cluster.get("mutationpolicy", NAME)["spec"] == document(namespace, "green")["spec"]

    who = f"system:serviceaccount:{namespace}:{EDITOR}"
    written = [
        (event["verb"], event["responseStatus"]["code"])
        for event in cluster.audit()
        if event["user"].get("username") == who
        and event.get("objectRef", {}).get("resource") == "mutationpolicies"
        and event["verb"] in ("create", "patch")
    ]
    print(f"the audit of the API server, of {EDITOR}: {written}")
    assert [verb for verb, code in written if code < 300] == ["create", "patch"]
    without(editor, installation)

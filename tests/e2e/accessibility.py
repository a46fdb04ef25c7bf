"""What axe-core has to say against a page: the rules of WCAG 2 and its own best practices."""

from importlib import resources
from typing import Literal, get_args

from playwright.sync_api import Page

Scheme = Literal["light", "dark"]
SCHEMES = get_args(Scheme)

AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


RUN = "axe.run({resultTypes: ['violations'], rules: {'skip-link': {enabled: false}}})"
"""Links to the views stand in a line that is scrolled on a telephone: what is out of sight there is taken for a link
that skips to a part of this page, and there is none."""


def complaints(page: Page) -> list[str]:
    """One line for each element that breaks a rule, with what axe would have changed."""
    # Half a megabyte, which stays for as long as the document does.
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found = page.evaluate(RUN)
    return [
        f"{rule['id']}: {node['target']}: {' '.join(node['failureSummary'].split())}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]

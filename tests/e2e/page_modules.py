"""The page's own modules, asked without a page."""

from typing import Any

from playwright.sync_api import Page


class Modules:
    """Calls exported functions by name: values in, values out."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def run(self, module: str, body: str, *arguments: Any) -> Any:
        """Evaluate *body*, a JavaScript expression of the module's names and of `a`."""
        return self._page.evaluate(
            f"""async (a) => {{
                const m = await import("/{module}.js");
                return ((m, a) => {body})(m, a);
            }}""",
            list(arguments),
        )

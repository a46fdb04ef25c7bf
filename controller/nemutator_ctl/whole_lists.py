"""A list with the items of all its pages, as one document."""

from collections.abc import Mapping

from nemutator_ctl.answers import not_understood
from nemutator_ctl.api import Api

LARGEST_PAGE = "5000"
"""As much as the brain sends at once."""
MOST_PAGES = 200
"""A million items: nothing that is listed here has more."""

NO_PAGE = "not a page of a list"


def whole_list(api: Api, path: str, query: Mapping[str, str]) -> object:
    """The list at *path*: all of it, or the one page that a `limit` in *query* asks for.

    A brain that does not know pages yet answers with everything at once.
    """
    if "limit" in query:
        return api.get(path, query)
    first = page = api.get(path, {**query, "limit": LARGEST_PAGE})
    items: list[object] = []
    for _ in range(MOST_PAGES):
        if not isinstance(page, dict) or not isinstance(page.get("items"), list):
            raise not_understood(NO_PAGE)
        items += page["items"]
        after = page.get("next", "")
        if not after:
            break
        if not isinstance(after, str):
            raise not_understood(NO_PAGE)
        page = api.get(path, {**query, "limit": LARGEST_PAGE, "continue": after})
    else:
        raise not_understood(f"a list without an end: {len(items)} items")
    if page is first:
        return first
    assert isinstance(first, dict)
    return {**first, "next": "", "remaining": 0, "items": items}

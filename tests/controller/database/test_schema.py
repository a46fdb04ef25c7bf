from nemutator_controller.database.schema import HEAD, metadata


def test_the_tables_are_known_by_name() -> None:
    assert set(metadata.tables) == {
        "aged_workloads",
        "cursors",
        "decisions",
        "eviction_requests",
        "grants",
        "histograms",
        "history",
        "image_digests",
        "latest",
        "leases",
        "reversals",
        "profiles",
        "requested_evictions",
        "rolls",
        "sessions",
        "stream_cursors",
        "tombstones",
        "window_sources",
        "window_symbols",
        "windows",
    }


def test_revisions_sort_as_text() -> None:
    # How a newer database is recognised.
    assert len(HEAD) == 4
    assert HEAD.isdigit()

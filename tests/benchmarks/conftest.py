"""Tests marked `bench` need packages that only `./dev bench` installs; it runs them before it measures anything."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "bench: needs the packages of ./dev bench, which runs these tests first")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Left out and counted as deselected, unless they are asked for with `-m bench`."""
    if "bench" in config.getoption("markexpr"):
        return
    left_out = [item for item in items if item.get_closest_marker("bench") is not None]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]

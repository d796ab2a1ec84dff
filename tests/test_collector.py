from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from materiac import collector


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    was_on = gc.isenabled()
    yield
    gc.enable() if was_on else gc.disable()


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_is_off_inside_and_as_before_afterwards(on: bool) -> None:
    gc.enable() if on else gc.disable()
    with collector.paused():
        assert not gc.isenabled()
        with collector.paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() is on


def test_the_collector_comes_back_after_an_error() -> None:
    gc.enable()
    with pytest.raises(KeyError), collector.paused():
        raise KeyError
    assert gc.isenabled()

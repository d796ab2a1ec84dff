from __future__ import annotations

import pytest

from materiac.web_names import is_header, is_url, is_variable

URLS = ["http://h", "https://ann:pw@h.example:8443/a/b?c=d", "http://127.0.0.1:9/", "http://[::1]/x"]
NO_URLS = ["", "h", "//h/x", "ftp://h", "http:///x", "http://h:0/", "http://h:99999", "http://h:x/", "http://[::1/",
    "http://h/a b", "http://h/\n", " http://h", "http:\\\\h"]  # fmt: skip


@pytest.mark.parametrize("text", URLS)
def test_what_is_a_url(text: str) -> None:
    assert is_url(text)


@pytest.mark.parametrize("text", NO_URLS)
def test_what_is_no_url(text: str) -> None:
    assert not is_url(text)


def test_headers_and_variables() -> None:
    assert [
        name
        for name in ("X-A", "authorization", "a b", "", "ä", "a:", "Host", "content-length")
        if is_header(name)
    ] == [
        "X-A",
        "authorization",
    ]
    assert [name for name in ("A", "_a1", "1A", "A-B", "A=b", "") if is_variable(name)] == ["A", "_a1"]

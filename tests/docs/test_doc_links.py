"""Links of all pages lead somewhere, and no page knows the machine that it was written on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from doc_pages import ALL_PAGES, PAGES, ROOT, Page

EVERY_PAGE = pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@EVERY_PAGE
def test_links_lead_to_files_and_headings(page: Page) -> None:
    anchors = {other.path: other.anchors for other in ALL_PAGES}
    for link in page.links:
        if re.match(r"https?://|mailto:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.path.parent / name).resolve() if name else page.path
        assert target.exists(), link
        assert not anchor or anchor in anchors[target], link


def test_the_index_leads_to_every_page() -> None:
    index = next(page for page in ALL_PAGES if page.name == "docs/index.md")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert pages <= set(index.links)


@EVERY_PAGE
def test_no_page_names_a_path_of_a_machine(page: Page) -> None:
    assert str(ROOT) not in page.text
    assert str(Path.home()) not in page.text
    assert not re.findall(r"(?<![\w.…/])/(?:root|work|tmp|Users|home/(?!you\b))\S*", page.text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_are_there(page: Page) -> None:
    assert set(re.findall(r"\bmake ([a-z]+)\b", _code(page))) <= TARGETS


def _code(page: Page) -> str:
    """What is set as code: the spans in the prose, and the blocks for a shell."""
    shells = [block.text for block in page.blocks if block.language in ("sh", "console")]
    return "\n".join([*re.findall(r"`([^`\n]+)`", page.prose), *shells])

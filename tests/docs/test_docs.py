"""Every page of the documentation runs, and every link leads somewhere."""

from pathlib import Path

import pytest
from markdown import broken_links, run

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(ROOT.glob("docs/*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_code_of_a_page_does_what_the_page_says(page):
    run(page)


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda p: p.name)
def test_every_link_leads_somewhere(page):
    assert broken_links(page) == []


def test_every_page_can_be_reached_from_the_index():
    index = (ROOT / "docs/index.md").read_text()
    assert [p.name for p in PAGES if p.name != "index.md" and f"({p.name})" not in index] == []


def test_a_wrong_result_and_a_dead_link_would_be_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A page\n[there](#a-page) [gone](gone.md)\n```python\n>>> 1 + 1\n3\n```\n")
    assert broken_links(page) == ["gone.md"]
    with pytest.raises(AssertionError, match="Expected"):
        run(page)

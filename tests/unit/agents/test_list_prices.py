import re
from datetime import date

import pytest

from gate.agents.list_prices import LIST_PRICES
from gate.agents.pricing import strip_date
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "decisions" / "0042-list-prices.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("model", LIST_PRICES)
def test_a_price_says_which_list_has_it_and_since_when_that_is_known(model):
    price = LIST_PRICES[model]
    assert re.fullmatch(r"[a-z.]+/[\w/.-]+", price.source)
    assert date(2026, 1, 1) < date.fromisoformat(price.read_on) < date(2030, 1, 1)
    cached = price.input if price.cached_input is None else price.cached_input
    assert 0 < cached <= price.input < price.output
    assert strip_date(model) == model


@pytest.mark.parametrize("model", LIST_PRICES)
def test_the_page_has_the_same_prices(model):
    price = LIST_PRICES[model]
    cached = "" if price.cached_input is None else f"{price.cached_input:g}"
    row = f"| `{model}` | {price.input:g} | {cached} | {price.output:g} | {price.read_on} |"
    assert row in PAGE
    assert price.source in PAGE


def test_the_page_has_no_other_prices():
    assert re.findall(r"^\| `([\w.-]+)` \|", PAGE, re.MULTILINE) == list(LIST_PRICES)

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from materiac.agents.protocol import Usage
from materiac.program import Budget
from materiac.runtime.chronicle import TURN
from materiac.runtime.journal import Journal, Record, read
from materiac.runtime.usage import Tally, Turn, UsageFile, over, used, warn


def turn(socket: str = "build", visit: int = 1, item: str | None = None, **fields: Any) -> Turn:
    values: dict[str, Any] = {"usage": Usage(10, 2), "model": None, "provider": None, "turn": 1} | fields
    label = item and f"the item {item}"
    return Turn(socket=socket, materia="Build", item_key=item, item_label=label, visit=visit, **values)


def tally_of(*turns: Turn) -> Tally:
    tally = Tally()
    for one in turns:
        tally.add(one)
    return tally


def data_of(turns: Sequence[Turn]) -> dict[str, Any]:
    tally = Tally()
    return tally.as_data([tally.add(one) for one in turns])


def total(inp: int, out: int, turns: int, **more: Any) -> dict[str, Any]:
    rest = {"cacheRead": 0, "cacheWrite": 0, "cost": 0.0, "turns": turns, "unknown": 0}
    return {"input": inp, "output": out} | rest | more


def test_all_that_usage_json_has() -> None:
    spent = Usage(100, 20, cache_read=3, cache_write=4, cost=0.25)
    data = data_of(
        [
            turn("plan", usage=spent, model="m-1", provider="p"),
            turn(item="WI-1"),
            turn(item="WI-1", turn=2, usage=None),
            turn(item="WI-1", visit=2),
            turn(item="WI-2", visit=3),
        ]
    )
    plan = total(100, 20, 1, cacheRead=3, cacheWrite=4, cost=0.25)
    assert data["total"] == total(130, 26, 5, cacheRead=3, cacheWrite=4, cost=0.25, unknown=1)
    assert data["byMateria"] == {"Build": data["total"]}
    assert data["bySocket"] == {"plan": plan, "build": total(30, 6, 4, unknown=1)}
    assert data["byItem"] == {"WI-1": total(20, 4, 3, unknown=1), "WI-2": total(10, 2, 1)}
    first = total(120, 24, 4, cacheRead=3, cacheWrite=4, cost=0.25, unknown=1)
    assert data["byAttempt"] == {"1": first, "2": total(10, 2, 1)}
    assert [one["attempt"] for one in data["turns"]] == [1, 1, 1, 2, 1]
    assert data["turns"][0] == {
        "socket": "plan",
        "materia": "Build",
        "itemKey": None,
        "itemLabel": None,
        "visit": 1,
        "turn": 1,
        "usage": {"input": 100, "output": 20, "cacheRead": 3, "cacheWrite": 4, "cost": 0.25},
        "model": "m-1",
        "provider": "p",
        "attempt": 1,
    }
    assert data["turns"][2]["usage"] is None


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        pytest.param([0.1, 0.2], "0.3", id="no binary dust"),
        pytest.param([0.1] * 1000, "100.0", id="however many"),
        pytest.param([1e-9, 3], "3.000000001", id="nothing lost"),
        pytest.param([0], "0.0", id="nothing"),
    ],
)
def test_costs_add_up_as_they_are_written(costs: list[float], expected: str) -> None:
    data = data_of([turn(usage=Usage(cost=cost)) for cost in costs])
    assert json.dumps(data["total"]["cost"]) == expected


turns = st.builds(
    Turn,
    socket=st.sampled_from(["a", "b\u2028", '"']),
    materia=st.sampled_from(["M", "Ñ"]),
    item_key=st.sampled_from([None, "WI-1", "WI-2"]),
    item_label=st.none() | st.text(),
    visit=st.integers(1, 4),
    turn=st.integers(1, 3),
    usage=st.none()
    | st.builds(Usage, st.integers(0, 9999), st.integers(0, 99), cost=st.floats(0, 9, width=16)),
    model=st.none() | st.text(),
)


@given(st.lists(turns, max_size=8), st.integers(0, 8))
def test_usage_json_is_current_after_every_turn(
    tmp_path_factory: pytest.TempPathFactory, added: list[Turn], known: int
) -> None:
    path, tally = tmp_path_factory.mktemp("usage") / "usage.json", Tally()
    records = [Record(n, "", TURN, one.as_data()) for n, one in enumerate(added, 1)]
    file = UsageFile(path, tally, records[:known])
    assert json.loads(path.read_bytes()) == data_of(added[:known])
    for n, record in enumerate(records[known:], known + 1):
        tally(record)
        file(record)
        assert json.loads(path.read_bytes()) == data_of(added[:n])


def test_usage_is_made_again_from_the_journal(tmp_path: Path) -> None:
    tally = Tally()
    with Journal.create(tmp_path / "events.jsonl") as journal:
        journal.subscribe(tally)
        journal.subscribe(UsageFile(tmp_path / "usage.json", tally))
        journal.append("cast_started", usage="of no interest")
        journal.append(TURN, **turn(item="WI-1", usage=Usage(1, 2, 3, 4, 0.1)).as_data(), stop="stop")
        journal.append(TURN, **turn(visit=2, usage=None).as_data())
        assert journal.broken == []
    again = used(tmp_path / "events.jsonl")
    assert again == json.loads((tmp_path / "usage.json").read_bytes())
    assert again["total"]["turns"] == Tally(read(tmp_path / "events.jsonl").records).total.turns == 2


def test_writing_a_turn_does_not_rewrite_the_turns(tmp_path: Path) -> None:
    """The first byte is spoiled behind the file's back and stays so."""
    path, tally = tmp_path / "usage.json", Tally()
    file = UsageFile(path, tally, [Record(1, "", TURN, turn().as_data())])
    path.write_bytes(b"#" + path.read_bytes()[1:])
    record = Record(1, "", TURN, turn(visit=2).as_data())
    tally(record)
    file(record)
    assert path.read_bytes()[:1] == b"#"
    assert json.loads(b"{" + path.read_bytes()[1:]) == data_of([turn(), turn(visit=2)])


SPENT = tally_of(turn(usage=Usage(600, 150, 9999, 9999, 1.2)))


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        pytest.param(Budget(), None, id="no limit"),
        pytest.param(Budget(max_tokens=751, max_cost_usd=1.21), None, id="below both"),
        pytest.param(
            Budget(max_tokens=750), "750 tokens have been used, the budget is 750 tokens", id="at the tokens"
        ),
        pytest.param(
            Budget(max_tokens=1000, max_cost_usd=1),
            "1.2 US dollars have been used, the budget is 1 US dollars",
            id="over the cost",
        ),
        pytest.param(
            Budget(max_tokens=1, max_cost_usd=1.2),
            "750 tokens have been used, the budget is 1 tokens and "
            "1.2 US dollars have been used, the budget is 1.2 US dollars",
            id="both",
        ),
    ],
)
def test_over_a_budget(budget: Budget, said: str | None) -> None:
    assert over(budget, SPENT) == said


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        pytest.param(Budget(), None, id="no limit"),
        pytest.param(Budget(max_tokens=1001, max_cost_usd=9), None, id="below both"),
        pytest.param(
            Budget(max_tokens=1000),
            "750 tokens have been used, 75 % of the budget of 1000 tokens",
            id="at the default",
        ),
        pytest.param(
            Budget(max_cost_usd=2.4, warn_at_percent=50),
            "1.2 US dollars have been used, 50 % of the budget of 2.4 US dollars",
            id="at its own percent",
        ),
        pytest.param(
            Budget(max_tokens=100),
            "750 tokens have been used, 750 % of the budget of 100 tokens",
            id="far over",
        ),
    ],
)
def test_near_a_budget(budget: Budget, said: str | None) -> None:
    assert warn(budget, SPENT) == said


def test_many_small_costs_reach_the_budget_exactly() -> None:
    tally = tally_of(*(turn(usage=Usage(cost=0.1)) for _ in range(9)))
    assert over(Budget(max_cost_usd=1), tally) is None
    tally.add(turn(usage=Usage(cost=0.1)))
    assert over(Budget(max_cost_usd=1), tally) is not None

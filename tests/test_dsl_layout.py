"""The canonical layout: indents, spaces and blank lines change, comments and meaning do not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from materiac import dsl_text, formatting
from materiac.dsl_tree import comments
from materiac.source import Source

UNTIDY = """\


# about the file
import   "other.materia"   # why


artifacts casts
budget {   maxTokens 5
maxCostUsd 1 }
agents {"a":"b",
  "c": [1,2,
3]}
loadout L {  @color "red"
entry a   # the first
    a :A->b
  b: B   json   visits 3 bytes 5
        satisfied -> c @label "x"
    # back again
    not_satisfied->a max 3

    # materiac: ignore[dead-edge] known
    -> c
  c: C assign x=$.y -> end  # the end
  loop w ( a,b )over c{ parallel 2
    # out
    exit b -> c
  }
  never a before b
# last in the loadout
}
materia A agent   generator { tools readOnly   model "m" prompt \"\"\"
       Do it:
         {{request}}
    \"\"\"  }
materia B = null
# at the end"""

TIDY = """\
# about the file
import "other.materia"  # why

artifacts casts
budget {
  maxTokens 5
  maxCostUsd 1
}
agents {
  "a": "b",
  "c": [
    1, 2,
    3
  ]
}
loadout L {
  @color "red"
  entry a  # the first
  a: A -> b
  b: B json visits 3  bytes 5
    satisfied     -> c @label "x"
    # back again
    not_satisfied -> a max 3

    # materiac: ignore[dead-edge] known
    -> c
  c: C assign x = $.y -> end  # the end
  loop w (a, b) over c {
    parallel 2
    # out
    exit b -> c
  }
  never a before b
  # last in the loadout
}
materia A agent generator { tools readOnly  model "m"  prompt \"\"\"
  Do it:
    {{request}}
\"\"\" }
materia B = null
# at the end
"""


UNTIDY_SCENARIO = """\
about "x"   scenarios of R in "./r.json"
scenario   "s"{ loadout R  # which one


  agent{ delay 5ms
# the plan
plan:{"workItems":[]}  after 3s

  a : item WI-1   "x"   file page.md \"\"\"
      x
    y
  \"\"\"
b: fails "no"
default   text "ok" }
utilities { }
person "hm"   continue
expect failed   with edge-limit has"x"{ path a->b
->c  # and on
visits a 1 , b 2 items none,
  WI-1
prompt a 2 has "x"
 lacks ["y",
"z"]
no   file x  at most 5 turns }
state a.b=5   }
"""

TIDY_SCENARIO = """\
about "x"
scenarios of R in "./r.json"
scenario "s" {
  loadout R  # which one

  agent {
    delay 5ms
    # the plan
    plan: { "workItems": [] } after 3s

    a: item WI-1 "x" file page.md \"\"\"
        x
      y
    \"\"\"
    b: fails "no"
    default text "ok"
  }
  utilities {}
  person "hm" continue
  expect failed with edge-limit has "x" {
    path a -> b
      -> c  # and on
    visits a 1, b 2  items none,
      WI-1
    prompt a 2 has "x"
      lacks [
        "y",
        "z"
      ]
    no file x  at most 5 turns
  }
  state a.b = 5
}
"""


def data(text: str) -> object:
    document, findings = dsl_text.read(Source("x.materia", text))
    assert document is not None, findings
    return document.data


def said(text: str) -> list[str]:
    return [text[comment.span.start : comment.span.end].rstrip() for comment in comments(text)]


def test_layout() -> None:
    assert formatting.formatted(UNTIDY, "dsl") == TIDY
    assert data(TIDY) == data(UNTIDY)


def test_layout_of_scenarios() -> None:
    tidy = formatting.formatted(UNTIDY_SCENARIO, "dsl")
    assert tidy == TIDY_SCENARIO
    assert formatting.formatted(tidy, "dsl") == tidy
    assert data(tidy) == data(UNTIDY_SCENARIO)


@pytest.mark.parametrize(
    ("text", "tidy"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("\n\n", "", id="blank"),
        pytest.param("# a", "# a\n", id="comment alone"),
        pytest.param("\n\n# a\n\n\n# b\n\n", "# a\n\n# b\n", id="comments alone"),
        pytest.param("budget{}", "budget {}\n", id="empty block"),
        pytest.param("loadout\nL\n{}", "loadout L {}\n", id="joined"),
        pytest.param("loadout L { # x\n}", "loadout L {  # x\n}\n", id="comment in nothing"),
        pytest.param("materia A { params {} }", "materia A { params {} }\n", id="one line stays"),
        pytest.param("loadout L { a: A b: B }", "loadout L {\n  a: A\n  b: B\n}\n", id="a line each"),
        pytest.param(
            "loadout L { a: A\n->\nb }", "loadout L {\n  a: A\n    -> b\n}\n", id="arrow and target"
        ),
        pytest.param(
            "loadout L { a: A -> # here\nb }",
            "loadout L {\n  a: A ->  # here\n      b\n}\n",
            id="comment in an edge",
        ),
        pytest.param("budget { a 1\r\nb 2 }\r\n", "budget {\n  a 1\n  b 2\n}\n", id="crlf"),
    ],
)
def test_small_layouts(text: str, tidy: str) -> None:
    assert formatting.formatted(text, "dsl") == tidy
    assert formatting.formatted(tidy, "dsl") == tidy


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "loadout L { a: A -> b  # materiac: ignore[x] why\n}", id="several statements in its line"
        ),
        pytest.param("loadout L { a: A\n b: B } # materiac: ignore[x]", id="behind a brace"),
        pytest.param("loadout L {\n a: A # materiac: ignore[x] why\n b: B\n}", id="alone in its line"),
        pytest.param("materia A { # materiac: ignore[x] why\n}", id="at the brace"),
        pytest.param(
            'loadout L {\na: A -> a @k {"a":1} @l 1 # materiac: ignore[x] 1\n'
            '@m {"a":1} @n 1 # materiac: ignore[y] 2\n}',
            id="in order at lines of an edge",
        ),
        pytest.param(
            "loadout L {\na: A -> a @k {\n}\n@l 1 # materiac: ignore[x] 1\n"
            "@m {\n} @n 1 # materiac: ignore[y] 2\n}",
            id="in order where the last one moves",
        ),
    ],
)
def test_directives_keep_their_statements(text: str) -> None:
    laid_out = formatting.formatted(text, "dsl")
    assert data(laid_out) == data(text)
    assert formatting.formatted(laid_out, "dsl") == laid_out


PIECES = st.sampled_from(
    (
        *(
            "loadout L {",
            "}",
            "a: A",
            "b: B",
            "-> b",
            "satisfied -> end",
            "max 2",
            "json",
            "visits 3",
            '@c "d"',
        ),
        *(
            "\n",
            "\n\n",
            "# x\n",
            "# materiac: ignore[y] z\n",
            " ",
            "entry a",
            "loop w (a, b)",
            "{",
            "exit a -> b",
        ),
        *("budget {", "k 1", "materia M {", "params", '{ "a": [1, 2] }', 'prompt """\n  a\n   b\n"""'),
        *(
            "generator",
            "= null",
            "over a",
            'scenario "s" {',
            "agent {",
            'a: "x"',
            "after 5s",
            'a: item 1 "y"',
        ),
        *(
            "expect waiting {",
            "path a -> b",
            "visits a 1",
            'state x = "y"',
            "file x",
            'has "y"',
            "person continue",
        ),
    )
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=14).map(" ".join))
def test_whatever_can_be_read_keeps_value_and_comments(text: str) -> None:
    document, _ = dsl_text.read(Source("x.materia", text))
    if document is not None:
        laid_out = formatting.formatted(text, "dsl")
        assert data(laid_out) == document.data
        assert sorted(said(laid_out)) == sorted(said(text))
        assert formatting.formatted(laid_out, "dsl") == laid_out

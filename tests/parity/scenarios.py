"""Random scenarios: sound shapes with nasty words in them, and shapes that nobody should write."""

from __future__ import annotations

from documents import ANY, COUNTS, NAMES, PROMPTS, objects
from hypothesis import strategies as st

WORDS = NAMES | st.sampled_from(
    ("none", "has", "lacks", "item", "agent", "output", "in", "default", "state", "file", "a.b", "a#2",
     "b/c.md", "x.json", "complete", "continue", "no", "fails", "usage", "expect")
)  # fmt: skip
ITEMS = st.sampled_from(("WI-1", "WI-12", "3", "*", "none"))
TEXTS = PROMPTS | st.lists(PROMPTS, max_size=3)
FILES = st.dictionaries(WORDS, PROMPTS, max_size=2)
OBJECTS = st.dictionaries(WORDS, ANY, max_size=2)
BESIDE = {"delayMs": st.integers() | COUNTS, "usage": OBJECTS, "files": FILES}
ANSWER = st.one_of(
    PROMPTS,
    objects({"text": PROMPTS}, BESIDE),
    objects({"json": OBJECTS}, BESIDE),
    objects({"error": PROMPTS}, BESIDE),
    st.fixed_dictionaries({"text": PROMPTS}),
    st.fixed_dictionaries({"json": OBJECTS}),
)
SERIES = ANSWER | st.lists(ANSWER, max_size=3)
SOCKETS = st.dictionaries(WORDS, SERIES | st.dictionaries(ITEMS, SERIES, max_size=3) | ANY, max_size=3)
TARGETS = WORDS | st.fixed_dictionaries({}, optional={"file": WORDS, "name": WORDS})
WANTED = st.fixed_dictionaries({}, optional={"has": TEXTS, "lacks": TEXTS})
PROMPTED = st.builds("{}#{}".format, WORDS, st.integers(min_value=-1, max_value=20)) | WORDS
EXPECT = objects(
    {},
    {
        "status": st.sampled_from(("complete", "failed", "waiting")),
        "failure": WORDS | st.fixed_dictionaries({}, optional={"kind": WORDS, "has": TEXTS}),
        "path": st.lists(WORDS, max_size=30),
        "pathHas": st.lists(WORDS, max_size=3),
        "items": st.lists(st.none() | ITEMS | WORDS, max_size=4),
        "visits": st.dictionaries(WORDS, COUNTS, max_size=3),
        "state": OBJECTS,
        "prompts": st.dictionaries(PROMPTED, WANTED, max_size=2),
        "files": st.dictionaries(WORDS, st.none() | WANTED, max_size=3),
        "turns": COUNTS,
    },
)
AGENT = objects({}, {"sockets": SOCKETS, "default": ANSWER, "delayMs": COUNTS, "description": PROMPTS})
SCENARIOS = objects(
    {"name": PROMPTS},
    {
        "about": PROMPTS,
        "loadout": TARGETS,
        "request": PROMPTS,
        "state": OBJECTS,
        "agent": AGENT,
        "utilities": SOCKETS,
        "files": FILES,
        "person": st.lists(st.none() | PROMPTS, max_size=3),
        "expect": EXPECT,
    },
)
SUITES = objects(
    {"scenarios": st.lists(SCENARIOS, min_size=1, max_size=2)}, {"about": PROMPTS, "loadout": TARGETS}
)
ALONE = st.fixed_dictionaries(
    {"name": PROMPTS}, optional={"loadout": TARGETS, "expect": EXPECT, "$schema": NAMES, "utilities": SOCKETS}
)

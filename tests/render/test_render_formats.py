"""All formats show the same; every text comes out as it was written."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from drawn_programs import NASTY, chained, full

from materiac.program import Image, image_data
from materiac.render import FORMATS, render
from materiac.render.diagram import make


def squeezed(text: str) -> str:
    return "".join(text.split())


def svg_texts(picture: str) -> str:
    root = ET.fromstring(picture)  # noqa: S314 (our own drawing)
    return "".join(
        text for element in root.iter("{http://www.w3.org/2000/svg}text") for text in element.itertext()
    )


def dot_texts(picture: str) -> str:
    strings = re.findall(r'label="((?:[^"\\]|\\.)*)"', picture)
    plain = (re.sub(r"\\(.)", lambda m: " " if m[1] in "nl" else m[1], string) for string in strings)
    return html.unescape(" ".join(plain))


def mermaid_texts(picture: str) -> str:
    strings = " ".join(re.findall(r'"([^"]*)"', picture)).replace("<br/>", " ")
    return re.sub(r"#(\d+);", lambda match: chr(int(match[1])), strings)


READERS: dict[str, Callable[[str], str]] = {
    "svg": svg_texts,
    "dot": dot_texts,
    "mermaid": mermaid_texts,
    "text": lambda picture: picture,
}


def texts(image: Image, format_: str) -> str:
    return squeezed(READERS[format_](render(image, format_).decode()))


@pytest.mark.parametrize("format_", READERS)
def test_every_format_names_everything(format_: str) -> None:
    diagram = make(full())
    shown = texts(full(), format_)
    said = [diagram.title, "end"]
    said += [text for fact in diagram.facts for text in fact]
    for node in diagram.nodes:
        said += [node.name, node.materia, node.kind, node.does, node.reads, *node.marks, *node.notes]
    for box in diagram.boxes:
        said += [box.kind, box.name, *box.lines]
    for arrow in diagram.arrows:
        said += [arrow.when, arrow.limit]
    assert [text for text in said if squeezed(text) not in shown] == []


@pytest.mark.parametrize("label", NASTY, ids=[label[:12] for label in NASTY])
@pytest.mark.parametrize("format_", ["svg", "dot", "mermaid"])
def test_texts_come_out_as_written(format_: str, label: str) -> None:
    shown = texts(chained(label, "other"), format_)
    assert squeezed(label) in shown
    assert f"run{squeezed(label)[:4]}" in shown or "run'" in shown or 'run"' in shown


@pytest.mark.parametrize("label", NASTY[:7], ids=[label[:12] for label in NASTY[:7]])
def test_texts_come_out_as_written_in_a_terminal(label: str) -> None:
    picture = render(chained(label, "other"), "text").decode()
    assert picture.splitlines()[0] == f"loadout    {label}"


HARMFUL = "a\nb\tc\x1b[31m\x00\x85\u202e\u2028\ud800\ufffe"


@pytest.mark.parametrize("format_", READERS)
def test_no_control_character_reaches_a_picture(format_: str) -> None:
    picture = render(chained(HARMFUL, "other"), format_).decode()
    assert set(re.findall(r"[\x00-\x1f\x7f-\x9f\u2028\u202e\ud800\ufffe]", picture)) <= {"\n"}
    shown = squeezed(READERS[format_](picture))
    assert r"b\tc\x1b[31m\x00\x85\u202e\u2028\ud800\ufffe" in shown


def test_an_empty_label_is_no_fault() -> None:
    for format_ in READERS:
        assert render(chained("", ""), format_)


def test_png_is_png() -> None:
    assert render(full(), "png").startswith(b"\x89PNG")


DRAW_ALL = """
import json, sys
from materiac.program import image_from_data
from materiac.render import render
image = image_from_data(json.load(sys.stdin))
for format in ("dot", "mermaid", "text"):
    for overview in (False, True):
        sys.stdout.buffer.write(render(image, format, overview=overview))
"""


def test_equal_under_two_hash_seeds() -> None:
    machine = json.dumps(image_data(full())).encode()
    pictures = {
        subprocess.run(
            [sys.executable, "-c", DRAW_ALL],
            input=machine,
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    expected = [render(full(), f, overview=far) for f in ("dot", "mermaid", "text") for far in (False, True)]
    assert pictures == {b"".join(expected)}


@pytest.mark.parametrize("format_", READERS)
def test_sockets_come_in_written_order(format_: str) -> None:
    shown = READERS[format_](render(full(), format_).decode())
    body = shown[shown.index("property") :]
    order = ["Plan", "Builder (Build)", "Check", "Keep"]
    places = [body.index(name) for name in order]
    assert places == sorted(places)


def test_the_formats() -> None:
    assert FORMATS == ("svg", "png", "pdf", "dot", "mermaid", "text")

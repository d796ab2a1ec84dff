"""What a text of the language names as far as its words go, be it sound or not: the heads of statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from materiac.lsp.dsl_frames import BARE, Frame, Piece, is_id, pieces, step

_Fields = dict[str, Any]

_OF_SOCKETS: Final = {
    "foreach": ("foreach", "items"),
    "as": ("foreach", "as"),
    "cursor": ("foreach", "cursor"),
    "advance": ("advance", "cursor"),
}
_OF_LOOPS: Final = {"over": ("consumes", "from"), "as": ("consumes", "as"), "cursor": ("consumes", "cursor")}
_OF_ITEMS: Final = {
    "items": ("iterator", "items"),
    "as": ("iterator", "as"),
    "cursor": ("iterator", "cursor"),
}
_NO_MATERIA: Final = frozenset({"json", "text", "visits", "bytes", "assign", "foreach", "advance"})
_WITHOUT_IDS: Final = ("assign", "loop")


def in_dsl(text: str, offset: int) -> _Fields:
    """The names in a text as a file would hold them; what is being typed at an offset is left out."""
    glance, frames = _Glance(), [Frame("top")]
    for piece in pieces(text):
        if piece.kind in ("comment", "space"):
            continue
        step(frames, text, piece)
        before_sign = is_id(text, piece)
        if piece.kind in BARE and (before_sign or not piece.start < offset <= piece.end):
            glance.see(frames, piece, is_id=before_sign)
    return glance.data


class _Glance:
    """What has been seen of a text."""

    def __init__(self) -> None:
        self.data: _Fields = {"loadouts": {}, "materia": {}, "scenarios": []}

    def see(self, frames: Sequence[Frame], piece: Piece, *, is_id: bool) -> None:
        """A word that has just been added to a statement."""
        frame, name = frames[-1], piece.text.strip('"')
        before = frame.statement[-2].text if len(frame.statement) > 1 else ""
        if frame.kind == "top":
            self._of_file([part.text for part in frame.statement], name)
        elif frames[1].kind == "loadout" and frame.kind in ("loadout", "loop", "members"):
            loadout = _inside(self.data, "loadouts", frames[1].word(1))
            _of_loadout(loadout, frame, before, name, is_id=is_id)
        elif frames[1].kind == "materia":
            _of_materia(_inside(self.data, "materia", frames[1].word(1)), frame.kind, before, name)
        elif frame.kind == "scenario" and self.data["scenarios"] and before in ("loadout", "in"):
            self.data["scenarios"][-1]["loadout"] = name if before == "loadout" else {"file": name}

    def _of_file(self, words: Sequence[str], name: str) -> None:
        match words:
            case ["loadout", _]:
                _inside(self.data, "loadouts", name)
            case ["materia", _]:
                _inside(self.data, "materia", name)
            case ["materia", owner, *_, "generator"]:
                _inside(self.data, "materia", owner.strip('"'))["generator"] = True
            case ["scenario", _]:
                self.data["scenarios"].append({})
            case ["active", _]:
                self.data["activeLoadout"] = name
            case ["scenarios", "of", _]:
                self.data["loadout"] = name


def _inside(fields: _Fields, *way: str) -> _Fields:
    for key in way:
        fields = fields.setdefault(key, {})
    return fields


def _of_loadout(loadout: _Fields, frame: Frame, before: str, name: str, *, is_id: bool) -> None:
    first = frame.statement[0].text.strip('"')
    if is_id and before not in _WITHOUT_IDS:
        _inside(loadout, "sockets", name)
    elif frame.kind == "members":
        _inside(loadout, "loops", frame.word(1)).setdefault("sockets", []).append(name)
    elif before == "loop":
        _inside(loadout, "loops", name)
    elif frame.kind == "loop":
        _part(_inside(loadout, "loops", frame.word(1)), _OF_ITEMS, before, name)
    elif first == "loop" and len(frame.statement) > 1:
        loop = _inside(loadout, "loops", frame.statement[1].text.strip('"'))
        _part(loop, _OF_LOOPS, before, name)
    elif first in loadout.get("sockets", {}):
        _of_socket(_inside(loadout, "sockets", first), frame, before, name)


def _of_socket(socket: _Fields, frame: Frame, before: str, name: str) -> None:
    if before == "assign":
        _inside(socket, "assign")[name] = ""
    elif len(frame.statement) == 3 and name not in _NO_MATERIA:
        socket["materia"] = name
    else:
        _part(socket, _OF_SOCKETS, before, name)


def _part(owner: _Fields, keys: Mapping[str, tuple[str, str]], before: str, name: str) -> None:
    if before in keys:
        key, inner = keys[before]
        _inside(owner, key)[inner] = name.removesuffix(".workItems") if inner == "from" else name


def _of_materia(materia: _Fields, kind: str, before: str, name: str) -> None:
    if kind == "list:writes":
        materia.setdefault("writes", []).append(name)
    elif kind == "materia" and before == "assign":
        _inside(materia, "assign")[name] = ""
    elif kind == "materia" and before == "utility":
        materia["utility"] = name
    elif kind == "materia" and name == "generator":
        materia["generator"] = True

"""Early forms, rewritten once into the forms of today, each with a warning at its place.

Whatever is not what an early form looks like is left as it is: the model complains about it.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from materiac import early_forms
from materiac.diagnostic import Bilingual, Finding, Fix, Related, Severity
from materiac.model import kind_of
from materiac.names import Taken, suggestion
from materiac.shipped import SCRIPTS
from materiac.source import KEY, Document, Pointer

EARLY_KEYS: Final = ("role", "prompt", "systemPrompt", "command", "utility", "params", "timeoutMs")
"""What a socket could carry itself before materia had names."""

UNUSED_KEYS: Final = ("compaction", "finalization", "central", "webui")
UNUSED_LIMITS: Final = ("maxSocketVisits", "maxEdgeTraversals")

_IN_SOCKETS: Final = frozenset({*EARLY_KEYS, *UNUSED_KEYS, "type"})
_SCRIPT = re.compile(r"(?:.*/)?config/utilities/([^/]+)", re.DOTALL)

_EXITS: Final = Bilingual(
    '"exits": [{"from", "condition", "targetSocketId"}], with "advance" in the socket',
    "'exit <socket> <when> -> <target>', with 'advance' in the socket",
)
_NAMED: Final = Bilingual(
    '"materia": {"<name>": {…}}, and "materia": "<name>" in the socket',
    "'materia <name> { … }', and '<name>' behind the colon of the socket",
)

Fields = dict[str, Any]


def normalize(document: Document, below: Mapping[str, Any]) -> tuple[Document, list[Finding]]:
    """Rewrite the early forms of a document. `below` is the merged data of the layers below it.

    Findings point into the data of the document that comes back; it knows where in the text that stood.
    """
    if not isinstance(document.data, dict):
        return document, []
    rewrite = _Rewrite(_object(below.get("materia")), dict(document.moved))
    data = rewrite.file(document.data)
    return dataclasses.replace(document, data=data, moved=rewrite.moved), rewrite.findings


def _object(value: Any) -> Fields:
    return value if isinstance(value, dict) else {}


@dataclass
class _Rewrite:
    """One pass over a file. Methods take an object and its pointer and give the object as it is now."""

    below: Mapping[str, Any]
    moved: dict[Pointer, Pointer]
    findings: list[Finding] = field(default_factory=list)
    materia: Fields = field(default_factory=dict)

    def file(self, data: Fields) -> Fields:
        data = self._without(UNUSED_KEYS, data, ())
        data = self._roles(self._pipeline(data))
        if isinstance(data.get("limits"), dict):
            data = {**data, "limits": self._without(UNUSED_LIMITS, data["limits"], ("limits",))}
        if not isinstance(data.get("materia", {}), dict):
            return data
        self.materia = {
            name: self._materia(fields, ("materia", name)) for name, fields in data.get("materia", {}).items()
        }
        if isinstance(data.get("loadouts"), dict):
            loadouts = {name: self._loadout(name, value) for name, value in data["loadouts"].items()}
            data = {**data, "loadouts": loadouts}
        return {**data, "materia": self.materia} if self.materia or "materia" in data else data

    def _pipeline(self, data: Fields) -> Fields:
        loadouts = data.get("loadouts", {})
        if "pipeline" not in data or not isinstance(loadouts, dict):
            return data
        rest = {key: value for key, value in data.items() if key != "pipeline"}
        if "pipeline" in loadouts:
            self._error(
                "invalid-value",
                "'pipeline' stands beside a loadout of that name",
                ("pipeline", KEY),
                related=(Related(("loadouts", "pipeline", KEY), "the loadout"),),
                advice="keep one of them, as a loadout",
            )
            return rest
        self._early(
            ("pipeline", KEY),
            "'pipeline' is the early form of a loadout",
            Bilingual('"loadouts": {"pipeline": …}', "'loadout pipeline { … }'"),
            early_forms.PIPELINE,
        )
        self.moved["loadouts", "pipeline"] = ("pipeline",)
        return {**rest, "loadouts": {**loadouts, "pipeline": data["pipeline"]}}

    def _roles(self, data: Fields) -> Fields:
        roles, materia = data.get("roles"), data.get("materia", {})
        if not isinstance(roles, dict) or not isinstance(materia, dict):
            return data
        self._early(
            ("roles", KEY),
            "'roles' is the early form of 'materia'",
            Bilingual('"materia", with "prompt" in each', "'materia <name> { prompt … }' for each"),
            early_forms.roles(roles, data.get("materia")),
        )
        rest = {key: value for key, value in data.items() if key != "roles"}
        moved = {name: self._role(name, role) for name, role in roles.items() if name not in materia}
        for name in (name for name in roles if name in materia):
            words = f"role '{name}' is hidden by the materia of that name"
            fix = early_forms.removed(("roles", name))
            self._warn(("roles", name, KEY), words, advice="remove one of them", fix=fix)
        return {**rest, "materia": {**materia, **moved}}

    def _role(self, name: str, role: Any) -> Any:
        self.moved["materia", name] = ("roles", name)
        return self._prompt_renamed(role, ("materia", name)) if isinstance(role, dict) else role

    def _prompt_renamed(self, fields: Fields, at: Pointer) -> Fields:
        return fields if "prompt" in fields else self._renamed("systemPrompt", "prompt", fields, at)

    def _materia(self, fields: Any, at: Pointer) -> Any:
        if not isinstance(fields, dict):
            return fields
        fields = self._without(UNUSED_KEYS, fields, at)
        if fields.get("generates", ...) is None:
            fields = self._without(("generates",), fields, at)
        return self._builtin(self._parallel(fields, at), at)

    def _parallel(self, fields: Fields, at: Pointer) -> Fields:
        if "parallelPlanner" not in fields:
            return fields
        if "parallel" in fields:
            return self._without(("parallelPlanner",), fields, at)
        words = "'parallelPlanner' is the early form of 'parallel'"
        fix = early_forms.renamed((*self._written(at), "parallelPlanner"), "parallel")
        self._early((*at, "parallelPlanner", KEY), words, Bilingual('"parallel"', "'parallel'"), fix)
        return self._renamed("parallelPlanner", "parallel", fields, at)

    def _builtin(self, fields: Fields, at: Pointer) -> Fields:
        builtin = _builtin_of(fields.get("command"))
        if builtin is None or "utility" in fields:
            return fields
        words = f"'command' calls a script whose place the built-in '{builtin}' takes"
        now = Bilingual(f'"utility": "{builtin}"', f"'utility {builtin}'")
        fix = early_forms.renamed((*self._written(at), "command"), "utility", builtin)
        self._early((*at, "command"), words, now, fix)
        return {**self._renamed("command", "utility", fields, at), "utility": builtin}

    def _loadout(self, name: str, loadout: Any) -> Any:
        if not isinstance(loadout, dict):
            return loadout
        at = ("loadouts", name)
        loadout = self._without(UNUSED_KEYS, loadout, at)
        for loop, value in _object(loadout.get("loops")).items():
            if "exit" in _object(value):
                here = (*at, "loops", loop)
                fix = self._exit_fix(here, value, loadout.get("sockets"))
                self._early((*here, "exit", KEY), "'exit' is the early form of 'exits'", _EXITS, fix)
        if not isinstance(loadout.get("sockets"), dict):
            return loadout
        sockets = {id_: self._socket(name, id_, value) for id_, value in loadout["sockets"].items()}
        return {**loadout, "sockets": sockets}

    def _exit_fix(self, at: Pointer, loop: Fields, sockets: Any) -> Fix | None:
        source = _object(loop.get("exit")).get("from")
        socket = _object(_object(sockets).get(source)) if isinstance(source, str) else {}
        named = socket.get("materia")
        materia = self._layered(named) if isinstance(named, str) else {}
        reads_json = any((socket.get("parse"), materia.get("parse"), materia.get("generator")))
        return early_forms.exit_of_loop(self._written(at), loop, sockets, reads_json=reads_json)

    def _layered(self, materia: str) -> Fields:
        """A materia of this file over the one below it."""
        return {**_object(self.below.get(materia)), **_object(self.materia.get(materia))}

    def _socket(self, loadout: str, name: str, socket: Any) -> Any:
        if not isinstance(socket, dict) or _IN_SOCKETS.isdisjoint(socket):
            return socket
        at = ("loadouts", loadout, "sockets", name)
        socket = self._without(UNUSED_KEYS, socket, at)
        if "materia" in socket:
            return self._with_materia(name, socket, at)
        if _IN_SOCKETS.isdisjoint(socket.keys() - {"type"}) or not isinstance(socket.get("role", ""), str):
            return socket
        return self._with_unnamed(f"{loadout}/{name}", socket, at)

    def _with_materia(self, name: str, socket: Fields, at: Pointer) -> Fields:
        if "type" in socket:
            words = f"'type' of socket '{name}' is ignored: its materia has one"
            fix = early_forms.removed((*self._written(at), "type"))
            self._warn((*at, "type", KEY), words, advice="remove it", fix=fix)
        for key in [key for key in socket if key in EARLY_KEYS]:
            words = f"'{key}' stands beside 'materia' in socket '{name}'"
            self._error("unknown-key", words, (*at, key, KEY), advice="write it in the materia, or remove it")
        return {key: value for key, value in socket.items() if key not in _IN_SOCKETS}

    def _with_unnamed(self, name: str, socket: Fields, at: Pointer) -> Fields:
        """Make a materia without a name of its own out of what a socket carries itself."""
        keys, before = [key for key in socket if key in EARLY_KEYS], len(self.findings)
        while name in self.materia:
            name += "/"
        self._move_unnamed(("materia", name), at, "role" if "role" in socket else KEY)
        own = {key: value for key, value in socket.items() if key in _IN_SOCKETS and key != "role"}
        own = self._builtin(self._prompt_renamed(own, ("materia", name)), ("materia", name))
        base = self._base(socket["role"], own, name, at) if "role" in socket else {}
        self.materia[name] = {**base, **_joined(base, own), "label": at[-1]}
        words = f"socket '{at[-1]}' carries {_listed(keys)} itself"
        self._early((*at, keys[0], KEY), words, _NAMED, self._named_fix(name, socket, at))
        self.findings.insert(before, self.findings.pop())
        rest = {key: value for key, value in socket.items() if key not in _IN_SOCKETS}
        return {"materia": name, **rest}

    def _named_fix(self, name: str, socket: Fields, at: Pointer) -> Fix | None:
        """How such a materia gets a name; there is none to give where its role is not known."""
        if "role" in socket and not self._layered(socket["role"]):
            return None
        carried = [key for key in socket if key in _IN_SOCKETS]
        new = self._taken.free(str(at[-1]), "materia")
        return early_forms.named(self._written(at), carried, self.materia[name], new)

    @functools.cached_property
    def _taken(self) -> Taken:
        """Names of materia: those of all layers, and those that fixes give."""
        return Taken((*self.materia, *self.below))

    def _move_unnamed(self, new: Pointer, at: Pointer, named_by: Any) -> None:
        written = self._written(at)
        self.moved[new] = written
        self.moved[*new, "label"] = (*written, KEY)
        self.moved[*at, "materia"] = (*written, named_by)

    def _base(self, role: str, own: Fields, name: str, at: Pointer) -> Fields:
        """The fields that an unnamed materia has from its role."""
        above, lower = self.materia.get(role), self.below.get(role)
        if not isinstance(above, dict) and not isinstance(lower, dict):
            self._error(
                "unknown-materia",
                f"socket '{at[-1]}' has the role '{role}', which is neither a materia nor a role",
                (*at, "role"),
                advice=suggestion(role, [*self.materia, *self.below]),
            )
            return {} if kind_of(own) == "utility" else {"prompt": role or "role"}
        base = {
            key: value for key, value in _over(_object(lower), _object(above)).items() if value is not None
        }
        for key in base.keys() - own.keys() - {"label"}:
            ours = key in _object(above)
            origin = self._written(("materia", role, key)) if ours else (*self._written(at), "role")
            self.moved["materia", name, key] = origin
        return base

    def _without(self, keys: Iterable[str], fields: Fields, at: Pointer) -> Fields:
        found = [key for key in keys if key in fields]
        for key in found:
            fix = early_forms.removed((*self._written(at), key))
            self._warn((*at, key, KEY), f"'{key}' means nothing here", advice="remove it", fix=fix)
        return {key: value for key, value in fields.items() if key not in found} if found else fields

    def _renamed(self, old: str, new: str, fields: Fields, at: Pointer) -> Fields:
        if old not in fields:
            return fields
        self.moved[*at, new] = (*self._written(at), old)
        return {new if key == old else key: value for key, value in fields.items()}

    def _written(self, at: Pointer) -> Pointer:
        """Where in the text the value at a pointer stands."""
        cut = next((cut for cut in range(len(at), 0, -1) if at[:cut] in self.moved), 0)
        return self.moved[at[:cut]] + at[cut:] if cut else at

    def _early(self, at: Pointer, message: str, now: Bilingual, fix: Fix | None = None) -> None:
        self._warn(at, message, advice=Bilingual(f"write {now.json}", f"write {now.dsl}"), fix=fix)

    def _warn(self, at: Pointer, message: str, *, advice: str | Bilingual, fix: Fix | None) -> None:
        self.findings.append(Finding("legacy-form", Severity.WARNING, message, at, help=advice, fix=fix))

    def _error(
        self, rule: str, message: str, at: Pointer, *, advice: str | None, related: tuple[Related, ...] = ()
    ) -> None:
        self.findings.append(Finding(rule, Severity.ERROR, message, at, related, advice))


def _builtin_of(command: Any) -> str | None:
    """The built-in that stands for a shipped script: `["node", "…/config/utilities/detect-vcs.mjs"]`."""
    match command:
        case ["node" | "bun", str(path)] if script := _SCRIPT.fullmatch(path):
            return SCRIPTS.get(script[1])
    return None


def _listed(keys: list[str]) -> str:
    *most, last = (f"'{key}'" for key in keys)
    return f"{', '.join(most)} and {last}" if most else last


def _over(lower: Fields, upper: Fields) -> Fields:
    same = kind_of(upper) in (None, kind_of(lower) or "agent")
    return {**lower, **upper} if same else upper


def _joined(base: Fields, own: Fields) -> Fields:
    """The socket's own fields, its prompt below the one of the role."""
    prompts = (base.get("prompt"), own.get("prompt"))
    if not all(isinstance(prompt, str) for prompt in prompts):
        return own
    return {**own, "prompt": "\n\n".join(map(str, prompts))}

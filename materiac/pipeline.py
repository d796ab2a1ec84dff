"""The compiler on one page: texts in layers → findings, and a compiled image where there is no error.

    bytes ─decode─► source ─read─► document ─normalize─► document ┐
    each file below it, in the same way ──────────────────────────┴─merge─► layered ─shape─► model

    model ─rules─► findings
      └────lower─► image, where no finding is an error

This module alone knows the order of the phases. It reads no file: texts come from the caller.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from materiac import collector, imports, languages, layers, misfit, rules, shape, suppressions
from materiac.diagnostic import Finding, Located, Place, Severity
from materiac.graph import LoadoutGraph
from materiac.layers import Layered
from materiac.normalize import normalize
from materiac.rules import secret_literal
from materiac.rules.rule import Allowance, FileView
from materiac.source import Document, Language, Pointer, Source, Span

if TYPE_CHECKING:
    from materiac.layers import Again
    from materiac.model import Frame
    from materiac.program import Image, Json, Materia


_OF_SCENARIOS: Final = frozenset({"scenarios", "about", "loadout"})


@dataclass(frozen=True, slots=True)
class Text:
    """A file as it was read: the name that it is reported under, and its bytes.

    Of one that is `shipped` with the package or that is `imported`, the loadouts and the materia count and
    nothing else. `imports` has what became of each of its imports, in their order.
    """

    name: str
    raw: bytes
    shipped: bool = False
    language: Language | None = None
    imported: bool = False
    imports: tuple[Import, ...] = ()


@dataclass(frozen=True, slots=True)
class Import:
    """An import of a text: where it is written, and the name of the text that it brought in, or a finding."""

    path: str
    at: Pointer
    came: str | Finding


@dataclass(frozen=True)
class Compiled:
    """What came of compiling a loadout: an image, or errors; warnings beside either.

    `resolved` is the data of all layers, merged; `layered`, beside an image, knows where each part stands.
    """

    image: Image | None
    findings: tuple[Located, ...]
    resolved: Json = field(default_factory=dict)
    layered: Layered | None = None


@dataclass(frozen=True)
class Several:
    """What came of compiling loadouts: their images and graphs by name, or errors; warnings beside either.

    `named` has the ids of those that have one, `active` is what runs where nothing is asked for. `again` are
    the loadouts in which casts of others go on, by the names of these. `materia` are those of the text by
    name, whether or not a loadout uses them, where they were asked for.
    """

    images: Mapping[str, Image] = field(default_factory=dict)
    graphs: Mapping[str, LoadoutGraph] = field(default_factory=dict)
    findings: tuple[Located, ...] = ()
    suppressed: tuple[Located, ...] = ()
    named: Mapping[str, str] = field(default_factory=dict)
    active: str | None = None
    again: Mapping[str, str] | None = None
    materia: Mapping[str, Materia] = field(default_factory=dict)


@dataclass(frozen=True)
class Checked:
    """What is wrong in texts; as far as they could be read, what they make together, and the graphs of it."""

    findings: tuple[Located, ...]
    layered: Layered | None = None
    graphs: Mapping[str, LoadoutGraph] = field(default_factory=dict)
    suppressed: tuple[Located, ...] = ()


@dataclass
class _Front:
    """Documents as far as they could be read, what they make together, and what was found on the way."""

    data: Json = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)
    findings: list[Located] = field(default_factory=list)
    shipped: int = 0
    brought: dict[str, dict[Pointer, str]] = field(default_factory=dict)
    reached: dict[str, set[str]] = field(default_factory=dict)

    @property
    def layered(self) -> Layered:
        return Layered(self.data, tuple(self.documents), self.shipped)

    def add(self, text: Text) -> None:
        """Read one more text, on top of those before it."""
        source, document, found = languages.read(text.name, text.raw, text.language)
        found += _in_comments(source) if document is not None and source.language == "dsl" else ()
        self.findings += [_placed(Document(source, None, dict), finding) for finding in found]
        if document is not None and not isinstance(document.data, dict):
            words = f"found {misfit.found(document.data)}, expected an object"
            self.findings.append(_placed(document, Finding("invalid-value", Severity.ERROR, words, ())))
        elif document is not None:
            document, found = imports.without_imports(_without_scenarios(document))
            found += self._imported(text, document)
            self.findings += [_placed(document, finding) for finding in found]
            document, found = normalize(document, self.data)
            self.findings += [_placed(document, finding) for finding in found]
            self._lay(_bare(document) if text.shipped or text.imported else document, shipped=text.shipped)

    def _imported(self, text: Text, document: Document) -> list[Finding]:
        """What is wrong with the imports of a text; remembers what it brings in to those that import it."""
        came = [part for part in text.imports if isinstance(part.came, str)]
        brought = [(part.at, part.path, self.brought.get(str(part.came), {})) for part in came]
        self.brought[text.name] = {at: file for _, _, files in brought for at, file in files.items()}
        self.brought[text.name] |= dict.fromkeys(imports.brought_in(document), text.name)
        names = [str(part.came) for part in came]
        self.reached[text.name] = {*names, *(file for name in names for file in self.reached.get(name, ()))}
        wrong = [part.came for part in text.imports if isinstance(part.came, Finding)]
        return [*wrong, *imports.clashes(document.data, brought, self.reached)]

    def _lay(self, document: Document, *, shipped: bool) -> None:
        self.documents.append(document)
        self.data = layers.over(self.data, document)
        self.shipped += shipped


def check(texts: Sequence[Text], asked: str | None = None) -> tuple[Located, ...]:
    """Everything that is wrong in the last of `texts`, on top of those before it.

    With `asked`, of its loadouts that one alone is looked at.
    """
    return examine(texts, asked).findings


def examine(texts: Sequence[Text], asked: str | None = None, allowed: Allowance | None = None) -> Checked:
    """What `check` finds, with what it was found in; `allowed` is what casts may take at most."""
    with collector.paused():
        front = _read(texts)
        if not _sound(front, texts):
            return Checked(tuple(_of(front.findings, texts)), front.layered)
        layered = front.layered
        names, choice = _to_check(layered, asked)
        examined = _examine(layered, names, allowed)
        found = [_locate(layered, finding) for finding in examined.findings]
        located = [*front.findings, *(_of_choice(layered, finding) for finding in choice), *found]
        applied = suppressions.apply(located, layered, examined.graphs, whole=asked is None)
        left, known = (tuple(_of(part, texts)) for part in (applied.findings, applied.suppressed))
        return Checked(left, layered, examined.graphs, known)


def compile_loadout(
    texts: Sequence[Text], asked: str | Again | None = None, *, tolerated: Collection[str] = ()
) -> Compiled:
    """Compile one loadout of layered texts: `asked` by name or id, or again, else the active one.

    Only what this loadout is made of has to be sound. Findings of `tolerated` rules, without which a cast
    can run, do not count.
    """
    with collector.paused():
        front = _read(texts)
        if not _sound(front, texts):
            return Compiled(None, tuple(front.findings))
        layered = front.layered
        name, choice = layers.choose(layered, asked)
        built = _build(front, [] if name is None else [name], choice, tolerated)
        if name is None or name not in built.images:
            return Compiled(None, built.findings)
        return Compiled(built.images[name], built.findings, layered.data, layered)


def compile_all(texts: Sequence[Text], asked: str | None = None) -> Several:
    """Compile every loadout of the last of `texts`, in written order, or the one that is `asked` for.

    A text with no loadout of its own has the one that it says runs.
    """
    with collector.paused():
        front = _read(texts)
        if not _sound(front, texts):
            return Several(findings=tuple(front.findings))
        names, choice = _to_check(front.layered, asked)
        if not names and asked is None:
            name, choice = layers.choose(front.layered, None)
            names = [] if name is None else [name]
        return _build(front, names, choice)


def compile_whole(texts: Sequence[Text], again: Iterable[Again] = ()) -> Several:
    """What `compile_all` gives, with the materia of the last of `texts`, which may have no loadout beside.

    Loadouts in which casts of another text go on `again` are among those that are compiled, whichever text
    they come from.
    """
    with collector.paused():
        front = _read(texts)
        if not _sound(front, texts):
            return Several(findings=tuple(front.findings))
        layered = front.layered
        names, choice = _to_check(layered, None)
        active, fault = layers.choose(layered, None)
        materia, is_alone = _own(front, texts[-1].name)
        if not names and not is_alone:
            names, choice = [] if active is None else [active], fault
        found = {was.name: name for was in again if (name := layers.choose(layered, was)[0]) is not None}
        built = _build(
            front, list(dict.fromkeys([*names, *found.values()])), choice, materia=materia, is_alone=is_alone
        )
        loadouts = layered.data.get("loadouts", {})
        ids = {name: loadouts[name].get("id") for name in built.images}
        named = {name: id_ for name, id_ in ids.items() if isinstance(id_, str)}
        return replace(built, named=named, active=active, again=found)


def _own(front: _Front, name: str) -> tuple[list[str], bool]:
    """The named materia of a text and of its imports, and whether they are all that is in these."""
    files = {name, *front.reached[name]}
    documents = [part.data for part in front.documents if part.source.name in files]
    has_loadouts = any(part.get("loadouts") or part.get("activeLoadout") for part in documents)
    found = [part["materia"] for part in documents if isinstance(part.get("materia"), dict)]
    names = dict.fromkeys(name for part in found for name in part)
    merged = front.data.get("materia")
    known = merged if isinstance(merged, dict) else {}
    materia = [name for name in names if name in known and not front.layered.is_unnamed(name)]
    return materia, bool(materia) and not has_loadouts


def _build(
    front: _Front,
    names: Sequence[str],
    choice: Iterable[Finding],
    tolerated: Collection[str] = (),
    *,
    materia: Sequence[str] = (),
    is_alone: bool = False,
) -> Several:
    """Images of loadouts, where nothing that has to do with one of them is wrong, and `materia`."""
    layered = front.layered
    examined = _examine(layered, names, materia=materia)
    graphs = examined.graphs
    found = [*front.findings, *(_locate(layered, finding) for finding in examined.findings)]
    applied = suppressions.apply(found, layered, graphs, whole=False)
    used = {name: _used(graphs.get(name)) for name in names}
    used |= {"": frozenset(materia)} if is_alone else {}
    counted = (part for part in applied.findings if part.finding.rule not in tolerated)
    kept = [part for part in counted if _concerns_one(part.finding.at, used)]
    located = (*(_of_choice(layered, finding) for finding in choice), *kept)
    if not graphs.keys() >= set(names) or any(part.finding.severity is Severity.ERROR for part in located):
        return Several(findings=located)
    from materiac.lower import lower, lower_materia  # noqa: PLC0415 - a check does without the back end

    shaped = examined.shaped
    images = {name: lower(graphs[name], shaped.frame, shaped.materia) for name in names}
    own = {name: shaped.materia[name] for name in materia if name in shaped.materia}
    return Several(images, graphs, located, applied.suppressed, materia=lower_materia(own, shaped.frame))


def merged(texts: Iterable[Text]) -> Json:
    """The data of all layers, in the forms of today, as far as they can be read."""
    with collector.paused():
        return _read(texts).data


def offered(texts: Iterable[Text]) -> tuple[Json, str | None]:
    """The loadouts of all layers by name, and the one that runs where none is asked for, if one does."""
    with collector.paused():
        layered = _read(texts).layered
        loadouts = layered.data.get("loadouts")
        return (loadouts if isinstance(loadouts, dict) else {}), layers.choose(layered, None)[0]


def frame_of(texts: Iterable[Text]) -> Frame:
    """What all layers say beside their loadouts, without what is wrong with it."""
    with collector.paused():
        return shape.shape(_read(texts).layered, ()).frame


def _read(texts: Iterable[Text]) -> _Front:
    front = _Front()
    for text in texts:
        front.add(text)
    return front


def _in_comments(source: Source) -> Iterator[Finding]:
    """Secrets in the comments of a sound text in the language of our own; no other part of it knows them."""
    from materiac.dsl_tree import comments  # noqa: PLC0415 - what is JSON does without

    for comment in comments(source.text):
        words = secret_literal.in_comment(source.text[comment.span.start : comment.span.end])
        if words is not None:
            yield Finding(secret_literal.RULE.name, secret_literal.RULE.severity, words, comment.span)


def _bare(document: Document) -> Document:
    """A document without its frame."""
    return replace(document, data={k: v for k, v in document.data.items() if k in ("loadouts", "materia")})


def _without_scenarios(document: Document) -> Document:
    """A document without its scenarios, and without what it says of these; nothing, if it is one itself."""
    if languages.is_scenario(document):
        return replace(document, data={})
    if "scenarios" not in document.data:
        return document
    return replace(document, data={k: v for k, v in document.data.items() if k not in _OF_SCENARIOS})


def _sound(front: _Front, texts: Sequence[Text]) -> bool:
    """Whether there is an object to look at in the topmost text."""
    return bool(front.documents) and front.documents[-1].source.name == texts[-1].name


@dataclass(frozen=True, slots=True)
class _Examined:
    """Loadouts with their graphs, and what shape and rules found in them."""

    shaped: shape.Shaped
    graphs: Mapping[str, LoadoutGraph]
    findings: Sequence[Finding]


def _examine(
    layered: Layered,
    names: Collection[str],
    allowed: Allowance | None = None,
    materia: Collection[str] = (),
) -> _Examined:
    shaped = shape.shape(layered, names, materia)
    graphs = {name: LoadoutGraph(name, loadout, shaped.materia) for name, loadout in shaped.loadouts.items()}
    view = FileView(
        data=layered.data,
        frame=shaped.frame,
        materia=shaped.materia,
        known_materia=shaped.known_materia,
        known_loadouts=shaped.known_loadouts,
        dropped=shaped.dropped,
        layer=layered.owner,
        allowed=allowed,
    )
    broken = {name for name in graphs if _is_broken(name, graphs[name], shaped.findings)}
    ruled = rules.check(view, list(graphs.values()), broken)
    findings = [*shaped.findings, *(shaped.written(finding) for finding in ruled)]
    return _Examined(shaped, graphs, findings)


def _is_broken(name: str, graph: LoadoutGraph, findings: Iterable[Finding]) -> bool:
    errors = (f.at for f in findings if f.severity is Severity.ERROR)
    used = _used(graph)
    return any(_concerns(at, name, used) and _inside(at) for at in errors)


def _inside(at: Pointer | Span) -> bool:
    return not isinstance(at, Span) and at[:1] in (("loadouts",), ("materia",))


def _used(graph: LoadoutGraph | None) -> frozenset[str]:
    return frozenset(s.written.materia for s in graph.sockets.values()) if graph else frozenset()


def _concerns_one(at: Pointer | Span, used: Mapping[str, frozenset[str]]) -> bool:
    """Whether a place has to do with one of several loadouts, by the materia that each uses; or with none."""
    if not used:
        return _concerns(at, None, frozenset())
    return any(_concerns(at, name, materia) for name, materia in used.items())


def _concerns(at: Pointer | Span, loadout: str | None, materia: frozenset[str]) -> bool:
    """Whether a place has to do with a loadout, given the materia that it uses."""
    if isinstance(at, Span) or len(at) < 2:
        return True
    return {"loadouts": at[1] == loadout, "materia": at[1] in materia}.get(str(at[0]), True)


def _to_check(layered: Layered, asked: str | None) -> tuple[list[str], list[Finding]]:
    """The loadouts of the topmost document, or the one asked for; and what is wrong with the choice."""
    if asked is not None:
        name, findings = layers.choose(layered, asked)
        return ([name] if name is not None else []), findings
    data = layered.documents[-1].data
    written = data.get("loadouts")
    names = list(written) if isinstance(written, dict) else []
    if "activeLoadout" in data:
        return names, layers.choose(layered, None)[1]
    return names, []


def _of(findings: Iterable[Located], texts: Sequence[Text]) -> list[Located]:
    """The findings in the topmost text and in those that it imports."""
    by_name = {text.name: text for text in texts}
    names: set[str] = set()
    waiting = [texts[-1].name]
    while waiting:
        name = waiting.pop()
        names.add(name)
        came = [part.came for part in by_name[name].imports if isinstance(part.came, str)]
        waiting += [other for other in came if other in by_name and other not in names]
    return [part for part in findings if part.place is None or part.place.source.name in names]


def _of_choice(layered: Layered, finding: Finding) -> Located:
    """A finding on the choice of a loadout; where it was made by no file, that has no place."""
    return Located(finding, None) if finding.at == () else _locate(layered, finding)


def _locate(layered: Layered, finding: Finding) -> Located:
    related = tuple((layered.place(part.at), part.message) for part in finding.related)
    if finding.fix is not None:
        finding = finding._replace(fix=layered.written(finding.fix, finding.at))
    return Located(finding, layered.place(finding.at), related)


def _placed(document: Document, finding: Finding) -> Located:
    """A finding of reading one document; spans are found without looking into its data."""

    def place(at: Pointer | Span) -> Place:
        return Place(document.source, at if isinstance(at, Span) else document.span(at))

    return Located(finding, place(finding.at), tuple((place(r.at), r.message) for r in finding.related))

"""One turn: model and tools by turns until there is an answer, in an event loop of its own.

The loop runs in a thread of its own, so that whoever waits for it can be interrupted at any place, and
ends it from outside.
"""

from __future__ import annotations

import asyncio
import functools
import json
import secrets
import threading
from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeGuard

from pydantic_ai import (
    Agent,
    CancellationToken,
    NativeOutput,
    RunContext,
    StructuredDict,
    Tool,
    ToolFailed,
    ToolOutput,
    capture_run_messages,
)
from pydantic_ai.exceptions import (
    AgentRunError,
    OutputTokenLimitExceeded,
    RunCancelled,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import AgentStreamEvent, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model
from pydantic_ai.usage import RunUsage, UsageLimits

from materiac import handoff_server
from materiac.agents.llm import models
from materiac.agents.llm.endpoint import Endpoint
from materiac.agents.llm.faults import Failure, failure
from materiac.agents.llm.folder import FolderError
from materiac.agents.llm.news import News
from materiac.agents.llm.talks import Past, Talks, answerable, digest
from materiac.agents.llm.tools import ToolError, Tools
from materiac.agents.protocol import AgentError, Reply, Request, StopReason, Usage

_HANDOFF: Final = "handoff"
"""What an object is called, and the tool that takes it, where the request has no name for that."""
_CHANGING: Final = ("bash", "edit", "write")
"""The tools that are never run beside another one."""
_TOOL_RETRIES: Final = 10
"""How often in a row a model may call a tool wrongly. An answer is put right by whoever asked for it."""


class _SpentError(Exception):
    """The turn has used what the budget of the cast had left."""


class Turn:
    """A turn that is under way. `done` is set when there is a reply or an error; `cancel` brings it about."""

    def __init__(self, endpoint: Endpoint, request: Request, talks: Talks, env: Mapping[str, str]) -> None:
        self.done = threading.Event()
        self._id = secrets.token_hex(16)
        self._endpoint = endpoint
        self._request = request
        self._talks = talks
        self._halt = threading.Event()
        self._token = CancellationToken()
        self._usage = RunUsage()
        self._news = News(request.progress, request.max_bytes)
        self._tools = Tools(request.cwd, env, self._halt, request.owner)
        self._past = talks.read(request.session, request.sessions)
        self._model = models.make(endpoint, request.model)
        self._result: Reply | AgentError = AgentError("the turn was not run")

    def start(self) -> None:
        """Begin, in another thread."""
        threading.Thread(target=self._run, name="llm", daemon=True).start()

    def cancel(self) -> None:
        """End it where it is: the request, and the tool that runs. Nothing where it is done."""
        self._halt.set()
        self._token.cancel()

    def result(self) -> Reply:
        """What came of it, once it is done. Raises `AgentError`."""
        if isinstance(self._result, AgentError):
            raise self._result
        return self._result

    def aborted(self) -> Reply:
        """The reply of a turn that was cancelled, with what it has used until then."""
        return self._reply("", "aborted", error="it was stopped before it answered")

    def _run(self) -> None:
        loop = asyncio.new_event_loop()
        try:
            self._result = loop.run_until_complete(self._talk())
        except AgentError as error:
            self._result = error
        except UserError as error:
            self._result = AgentError(f"'{self._endpoint.provider}' cannot be asked so: {error}")
        except Exception as error:  # noqa: BLE001 - whatever a library raises ends this turn, not the cast
            self._result = AgentError(f"'{self._endpoint.provider}' failed: {type(error).__name__}: {error}")
        finally:
            # Threads that still look up a name are not waited for, as `asyncio.run` would.
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()
            self.done.set()

    async def _talk(self) -> Reply:
        agent = self._agent()
        async with self._model:
            with capture_run_messages() as messages:
                try:
                    result = await agent.run(
                        None if self._past.goes_on_with(self._request.prompt) else self._request.prompt,
                        message_history=list(self._past.messages),
                        run_id=self._id,
                        usage=self._usage,
                        usage_limits=UsageLimits(request_limit=self._endpoint.max_requests),
                        cancellation_token=self._token,
                        event_stream_handler=self._hear,
                    )
                except RunCancelled:
                    return self.aborted()
                except _SpentError as error:
                    return self._reply("", "error", error=str(error), failure=Failure(str(error)))
                except AgentRunError as error:
                    return self._failed(error, messages)
        return self._answered(result.output, result.all_messages())

    def _agent(self) -> Agent[object, Any]:
        request = self._request
        thinking = None if request.thinking is None else models.thinking_of(request.thinking)
        if request.thinking is not None and thinking is None:
            self._news.tell("note", f"thinking '{request.thinking}' is unknown to 'llm' and left out")
        return Agent(
            self._model,
            output_type=_output(request, self._model),
            instructions=request.system or None,
            model_settings=models.settings(self._endpoint, thinking),
            retries={"tools": _TOOL_RETRIES, "output": 0},
            tools=[self._tool(name, call) for name, call in self._offered()],
        )

    def _offered(self) -> Sequence[tuple[str, Callable[..., str]]]:
        named = [(name, self._tools.named(name)) for name in dict.fromkeys(self._request.tools)]
        for name in (name for name, call in named if call is None):
            self._news.tell("note", f"there is no tool '{name}' in 'llm'")
        return [(name, call) for name, call in named if call is not None]

    def _tool(self, name: str, call: Callable[..., str]) -> Tool[object]:
        @functools.wraps(call)
        def guarded(*args: Any, **kwargs: Any) -> str:
            self._refuse_spent()
            try:
                return call(*args, **kwargs)
            except (ToolError, FolderError, OSError, UnicodeError) as error:
                raise ToolFailed(str(error)) from error

        return Tool(
            guarded,
            name=name,
            takes_ctx=False,
            docstring_format="google",
            require_parameter_descriptions=True,
            sequential=name in _CHANGING,
        )

    def _refuse_spent(self) -> None:
        """No tool is run for a model that cannot be asked again. What it answers without one counts."""
        left, used = self._request.tokens_left, self._used()
        if left is not None and used is not None and used.input + used.output >= left:
            raise _SpentError(
                f"the turn has used {used.input + used.output} tokens, the budget of the cast had {left} left"
            )

    async def _hear(self, _context: RunContext[object], events: AsyncIterable[AgentStreamEvent]) -> None:
        async for event in events:
            self._news.hear(event)

    def _answered(self, output: object, messages: list[ModelMessage]) -> Reply:
        response = self._last(messages)
        if response is not None and response.finish_reason is None:
            return self._broken_off(
                Failure("the answer ended in the middle of the stream", "transport"), messages
            )
        stop: StopReason = "length" if response is not None and response.finish_reason == "length" else "stop"
        data = output if isinstance(output, dict) and not self._is_repeated(response) else None
        text = str(output) if data is None else json.dumps(data, ensure_ascii=False)
        session = self._talks.keep(Past(tuple(messages)), self._request.sessions)
        return self._reply(text, stop, session=session, data=data)

    def _is_repeated(self, response: ModelResponse | None) -> bool:
        """Whether the result was handed over twice; the calls are then kept as a server keeps them."""
        server, schema = self._request.tool_server, self._request.schema
        if response is None or server is None or schema is None:
            return False
        parts = (part for part in response.parts if isinstance(part, ToolCallPart))
        calls = [part.args_as_dict() for part in parts if part.tool_name == server.tool]
        for arguments in calls if len(calls) > 1 else ():
            handoff_server.keep(Path(server.command[-1]), arguments, schema)
        return len(calls) > 1

    def _failed(self, error: AgentRunError, messages: list[ModelMessage]) -> Reply:
        """The reply where the library gives up: a failure, or an answer that is not of the form it wants."""
        response = self._last(messages)
        if isinstance(error, UnexpectedModelBehavior) and self._is_answer(response):
            stop: StopReason = "length" if isinstance(error, OutputTokenLimitExceeded) else "stop"
            session = self._talks.keep(Past(tuple(messages)), self._request.sessions)
            return self._reply(_text(response), stop, session=session)
        why = failure(error, self._endpoint)
        if type(error) is UnexpectedModelBehavior and not (response and response.finish_reason):
            why = replace(why, fault="transport")  # nothing came that could be an answer
        return self._broken_off(why, messages)

    def _last(self, messages: Sequence[ModelMessage]) -> ModelResponse | None:
        """The last response of this turn."""
        said = (message for message in reversed(messages) if isinstance(message, ModelResponse))
        return next((response for response in said if response.run_id == self._id), None)

    def _is_answer(self, response: ModelResponse | None) -> TypeGuard[ModelResponse]:
        """Whether a response came to its end and calls no tool but the one that hands over."""
        if response is None or response.finish_reason is None:
            return False
        calls = {part.tool_name for part in response.parts if isinstance(part, ToolCallPart)}
        return calls <= {_tool_of(self._request)}

    def _broken_off(self, why: Failure, messages: list[ModelMessage]) -> Reply:
        """A failure. What the tools have done by then is kept, so that the same prompt goes on from there."""
        asked, session = answerable(messages), self._request.session
        if why.fault != "provider" and self._last(asked) is not None:
            past = Past(asked, digest(self._request.prompt))
            session = self._talks.keep(past, self._request.sessions)
        return self._reply("", "error", session=session, error=why.message, failure=why)

    def _reply(
        self,
        text: str,
        stop: StopReason,
        *,
        session: str | None = None,
        error: str | None = None,
        data: dict[str, Any] | None = None,
        failure: Failure | None = None,
    ) -> Reply:
        return Reply(
            text=text,
            usage=self._used(),
            session=session,
            stop=stop,
            error=error,
            model=self._model.model_name,
            provider=self._endpoint.provider,
            data=data,
            fault=failure.fault if failure else None,
            retry_after_s=failure.retry_after_s if failure else None,
            events=tuple(self._news.told),
        )

    def _used(self) -> Usage | None:
        """The sum of all requests; None where no answer said what it used."""
        used = self._usage
        if used.requests and not used.input_tokens and not used.output_tokens:
            return None
        cached = used.cache_read_tokens + used.cache_write_tokens
        return Usage(
            input=max(0, used.input_tokens - cached),
            output=used.output_tokens,
            cache_read=used.cache_read_tokens,
            cache_write=used.cache_write_tokens,
            cost=float(used.cost or 0),
        )


def _is_forced(request: Request) -> bool:
    return request.schema is not None and request.handoff in ("schema", "tool")


def _output(request: Request, model: Model) -> Any:
    """Text, or the object: as the form of the answer where the model knows that, else through a tool.

    The tool is one of this process: the server that a request names is not started.
    """
    if request.schema is None or not _is_forced(request):
        return str
    wanted, tool = StructuredDict(request.schema, name=_HANDOFF), _tool_of(request)
    if request.handoff == "schema" and model.profile.get("supports_json_schema_output"):
        return NativeOutput(wanted, name=_HANDOFF)
    return ToolOutput(wanted, name=tool, description="Hand over the result. This ends the work.")


def _tool_of(request: Request) -> str:
    return request.tool_server.tool if request.tool_server is not None else _HANDOFF


def _text(response: ModelResponse) -> str:
    """What a response says, or what it hands over."""
    said = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    handed = [part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart)]
    return handed[0] if handed else said

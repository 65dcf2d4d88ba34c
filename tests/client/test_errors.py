"""The classes of errors: names, bases, attributes, and pickling."""

from __future__ import annotations

import copy
import pickle
import typing
from typing import Any

import pytest

import docplatform
from docplatform import (
    ConfigurationError,
    ConnectError,
    DocPlatformError,
    JobFailedError,
    NetworkError,
    PaginationError,
    RateLimitError,
    RequestTimeoutError,
    ResponseError,
    ServerError,
    StatusError,
    TransportError,
    UnconfirmedWriteError,
    WaitTimeoutError,
)
from docplatform.testing import StubJob, StubRequest, StubServer
from helpers import AnyClient, Face
from helpers.pages import page, rows, serve
from helpers.search import shown

BASES: dict[str, tuple[type[Exception], ...]] = {
    "DocPlatformError": (Exception,),
    "ConfigurationError": (DocPlatformError, ValueError),
    "NetworkError": (DocPlatformError,),
    "ConnectError": (NetworkError, ConnectionError),
    "RequestTimeoutError": (NetworkError, TimeoutError),
    "TransportError": (NetworkError, ConnectionError),
    "UnconfirmedWriteError": (DocPlatformError,),
    "ResponseError": (DocPlatformError, ValueError),
    "StatusError": (DocPlatformError,),
    "PaginationError": (DocPlatformError,),
    "JobFailedError": (DocPlatformError,),
    "WaitTimeoutError": (DocPlatformError, TimeoutError),
    "BudgetError": (DocPlatformError,),
    "SyncError": (DocPlatformError,),
    "DatasetError": (DocPlatformError, ValueError),
    "StoreBusyError": (DocPlatformError,),
    **dict.fromkeys(
        (
            "BadRequestError",
            "AuthenticationError",
            "PermissionDeniedError",
            "NotFoundError",
            "ConflictError",
            "UnprocessableError",
            "RateLimitError",
            "ServerError",
        ),
        (StatusError,),
    ),
    "DataWarning": (UserWarning,),
    "DataChangedWarning": (docplatform.DataWarning,),
    "UnrecordedJobWarning": (UserWarning,),
    "WaitWarning": (UserWarning,),
}


@pytest.mark.parametrize("name", BASES)
def test_each_class_has_the_bases_it_is_documented_with(name: str) -> None:
    error = getattr(docplatform, name)
    assert error.__bases__ == BASES[name]
    assert name in docplatform.__all__
    assert getattr(docplatform.errors, name) is error
    typing.get_type_hints(error)


@pytest.mark.parametrize(
    "public",
    [
        *(getattr(docplatform, name) for name in docplatform.types.__all__),
        *(docplatform.read_views, docplatform.read_visitors),
        *(StubServer.__init__, StubServer.client, StubServer.async_client, StubJob, StubRequest),
    ],
    ids=lambda public: public.__qualname__,
)
def test_types_of_answers_and_functions_are_found(public: typing.Any) -> None:
    assert typing.get_type_hints(public)


def test_no_error_is_left_out_of_this_test() -> None:
    names = {
        name
        for name, value in vars(docplatform).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert names == BASES.keys()


@pytest.mark.row("A14")
def test_an_unconfirmed_write_is_of_no_class_that_is_retried() -> None:
    assert not issubclass(UnconfirmedWriteError, OSError | ValueError | StatusError | NetworkError)


def test_every_error_has_the_attributes_of_all() -> None:
    error = DocPlatformError("text")
    assert (error.outcome, error.attempts, error.deadline_exceeded) == (None, (), False)
    assert (error.checkpoint, error.job) == (None, None)


# -- eleven classes, as the client raises them --------------------------------------------------------


def unreachable(face: Face, client: AnyClient, stub: StubServer) -> Any:
    stub.close()
    return client.get_job("job-1")


def served(body: object = None, **fault: Any) -> Any:
    def ask(face: Face, client: AnyClient, stub: StubServer) -> Any:
        stub.fail_next(times=9, body=body, **fault)
        return client.get_job("job-1")

    return ask


def unsure(face: Face, client: AnyClient, stub: StubServer) -> Any:
    stub.fail_next(status=201, body="<html>", headers={"x-request-id": "req-7"})
    return client.create_job("Fix it")


def slow(face: Face, client: AnyClient, stub: StubServer) -> Any:
    stub.latency = 60
    return client.get_job("job-1")


def failed(face: Face, client: AnyClient, stub: StubServer) -> Any:
    stub.script_job("failed")
    return client.run_job("Fix it", poll_interval=0.01)


def unfinished(face: Face, client: AnyClient, stub: StubServer) -> Any:
    stub.script_job("active")
    return client.run_job("Fix it", poll_interval=0.01, timeout=0.03)


def unending(face: Face, client: AnyClient, stub: StubServer) -> Any:
    serve(stub, page(rows(0, 3), has_more=True), page([], has_more=True))
    visitors = client.visitors(page_size=3)
    for _ in range(3):
        face.next(visitors)
    return visitors.__next__() if face.name == "sync" else visitors.__anext__()


def without_project(face: Face, client: AnyClient, stub: StubServer) -> Any:
    return client.with_options(project_id=None).visitor_totals()


RAISED: dict[type[DocPlatformError], Any] = {
    ConfigurationError: without_project,
    ConnectError: unreachable,
    RequestTimeoutError: slow,
    TransportError: served(drop=True),
    UnconfirmedWriteError: unsure,
    ResponseError: served(body="<html>", status=200),
    ServerError: served(status=503),
    RateLimitError: served(status=429, retry_after=3600),
    PaginationError: unending,
    JobFailedError: failed,
    WaitTimeoutError: unfinished,
}


def raised(face: Face, kind: type[DocPlatformError]) -> Any:
    with StubServer() as stub:
        client = face.client(stub, max_retries=0, timeout=0.05 if kind is RequestTimeoutError else 30)
        with pytest.raises(kind) as caught:
            face.run(RAISED[kind](face, client, stub))
        assert stub.api_key not in shown(caught.value)
    assert type(caught.value) is kind
    return caught.value


def same(one: BaseException, other: BaseException) -> bool:
    return type(one) is type(other) and (str(one), one.args, vars(one)) == (
        str(other),
        other.args,
        vars(other),
    )


@pytest.mark.row("H5")
@pytest.mark.parametrize("kind", RAISED)
def test_an_error_can_be_copied_and_pickled_with_all_it_carries(
    face: Face, kind: type[DocPlatformError]
) -> None:
    error = raised(face, kind)
    assert vars(error)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        data = pickle.dumps(error, protocol)
        assert same(error, pickle.loads(data))
    assert same(error, copy.copy(error))
    assert same(error, copy.deepcopy(error))

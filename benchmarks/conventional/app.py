"""The FastAPI application."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from benchmarks.conventional.correlation import CorrelationMiddleware, correlation_id
from benchmarks.conventional.database import make_engine, make_sessions
from benchmarks.endpoints import load_endpoint


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    engine = make_engine(os.environ["KONTOR_DATABASE_URL"], int(os.environ["KONTOR_POOL_SIZE"]))
    app.state.sessions = make_sessions(engine)
    yield
    await engine.dispose()


async def answer_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return make_error(error.status_code, error.detail, dict(error.headers or {}))


async def answer_malformed(request: Request, error: Exception) -> JSONResponse:
    """Only path parameters can be malformed here, and a malformed id names no object."""
    return make_error(404, "There is no such object.", {})


def make_error(status: int, message: str, headers: dict[str, str]) -> JSONResponse:
    body = {"code": str(status), "message": message, "messages": [], "correlationId": correlation_id.get()}
    return JSONResponse(body, status, headers)


def create_app() -> FastAPI:
    # Answers are made by FastAPI's default: Pydantic writes the JSON of the response model. No debug.
    app = FastAPI(
        lifespan=lifespan,
        openapi_url=None,
        exception_handlers={HTTPException: answer_error, RequestValidationError: answer_malformed},
    )
    app.add_middleware(CorrelationMiddleware)
    app.include_router(load_endpoint(os.environ["BENCH_ENDPOINT"]).router)
    return app

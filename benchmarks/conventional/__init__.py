"""The conventional reference: FastAPI, Pydantic, the SQLAlchemy ORM on asyncpg, and Uvicorn.

It is meant to be written as an experienced FastAPI developer would write it, and it is tuned; every tuning is marked
with a comment that begins with "Tuned:". `tests/benchmarks` holds its answers against Kontor's, byte for byte.
It does less than Kontor: no log line, no metrics, no time limit, no check of Accept and of repeated parameters.
"""

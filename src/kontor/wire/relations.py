"""Relation, and the hrefs of customers, accesses, products and providers."""

from typing import Annotated

import msgspec
from msgspec import Meta


class Relation(msgspec.Struct):
    rel: Annotated[str, Meta(examples=["self"])]
    href: Annotated[str, Meta(description="absolute URL", examples=["https://kontor.example/customer/v2"])]

"""Customers who import files over the API."""

import pytest
from importing import Importer

from banking import new_customer


@pytest.fixture
def sender(server, shared):
    """A new customer without any data."""
    return Importer(new_customer(shared))

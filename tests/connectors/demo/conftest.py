import pytest
from people_view import LOGINS, find_person

from kontor.connectors.demo.people import Person


@pytest.fixture(params=LOGINS, scope="session")
def person(request: pytest.FixtureRequest) -> Person:
    return find_person(request.param)


@pytest.fixture(scope="session")
def everybody() -> list[Person]:
    return [find_person(login) for login in LOGINS]

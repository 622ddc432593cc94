"""What the demo bank remembers about its customers. Blocking: the bank is asked from worker threads."""

import psycopg

from kontor.domain.secrets import Secret


class DemoBankMemory:
    def __init__(self, url: Secret) -> None:
        self._url = url

    def count_wrong_pin(self, login: str) -> int:
        """Wrong PINs in a row, this one included."""
        with psycopg.connect(self._url.reveal(), autocommit=True) as connection:
            row = connection.execute(
                "insert into demo_bank_logins as l (login, wrong_pins) values (%s, 1)"
                " on conflict (login) do update set wrong_pins = l.wrong_pins + 1 returning wrong_pins",
                [login],
            ).fetchone()
        assert row is not None
        return int(row[0])

    def read_wrong_pins(self, login: str) -> int:
        with psycopg.connect(self._url.reveal(), autocommit=True) as connection:
            row = connection.execute("select wrong_pins from demo_bank_logins where login = %s", [login]).fetchone()
        return 0 if row is None else int(row[0])

    def forget_wrong_pins(self, login: str) -> None:
        with psycopg.connect(self._url.reveal(), autocommit=True) as connection:
            connection.execute("delete from demo_bank_logins where login = %s", [login])

"""A customer who imports files over the API."""

IMPORTS = "/customer/v2/imports"


class Importer:
    """A customer, and what it sends to the imports."""

    def __init__(self, customer):
        self.customer = customer

    def send(self, data, *, media_type="application/octet-stream", **query):
        headers = self.customer.headers | ({"Content-Type": media_type} if media_type else {})
        return self.customer.http.post(IMPORTS, content=data, headers=headers, params=query)

    def take(self, data, **query):
        """The answer to a file that is stored."""
        answer = self.send(data, **query)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def preview(self, data, **query):
        answer = self.send(data, preview="true", **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refuse(self, data, status=400, **query):
        """The message with which a file is refused."""
        answer = self.send(data, **query)
        assert answer.status_code == status, answer.text
        return answer.json()["message"]

    def describe(self, name="Hausbank", **facts):
        """Describe a form; returns the answer."""
        form = {
            "name": name,
            "spalten": {"Tag": "buchungsdatum", "Was": "verwendungszweck", "Umsatz": "betrag"},
            "datumsformat": "dd.mm.yyyy",
            "dezimalzeichen": ",",
        }
        return self.customer.post(f"{IMPORTS}/forms", form | facts)

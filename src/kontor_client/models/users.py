"""Users of a tenant, as its admin client sees them, and the service's health."""

from kontor_client.models.shapes import Model


class User(Model, rename={"reference": "userReference"}):
    reference: str
    username: str


class Health(Model):
    status: str
    checks: dict[str, bool] = {}

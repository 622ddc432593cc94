"""For receivers of webhooks."""

from collections.abc import Mapping

import msgspec
from standardwebhooks import Webhook, WebhookVerificationError

from kontor_client.errors import KontorClientError
from kontor_client.models.webhooks import Notification


class SignatureError(KontorClientError):
    """Not a call of the service, or one that is minutes old: answer 401."""


def verify_webhook(secret: str, headers: Mapping[str, str], body: bytes) -> Notification:
    """The notification of a call, once its signature and its time are found right.

    `body` are the bytes as they came. `secret` is the one that was shown when the webhook was made (whsec_…).
    """
    try:
        verifier = Webhook(secret)
        verifier.verify(body, {name.lower(): value for name, value in headers.items()})
    except (WebhookVerificationError, ValueError):
        raise SignatureError("The signature is not right, or too old.") from None
    return msgspec.json.decode(body, type=Notification)

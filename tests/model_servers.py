"""Servers in the shape of OpenAI's `/v1/chat/completions`, on real sockets."""

import json
from typing import Any

from receivers import Receiver


def complete(content: str | None, **more: Any) -> tuple[int, dict[str, str], bytes]:
    """An answer as such servers give it."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    body = {"id": "c-1", "object": "chat.completion", "model": "test", "choices": [choice], "usage": {}} | more
    return 200, {"content-type": "application/json"}, json.dumps(body).encode()


class ModelServer(Receiver):
    """`categories` by the words of a merchant; of others it knows nothing. `answer` may be set to something else."""

    def __init__(self, categories: dict[str, str] | None = None) -> None:
        super().__init__(answer=self._answer)
        self.categories = categories or {}

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    @property
    def merchants(self) -> list[str]:
        """That were asked about."""
        return [read_merchant(received.content) for received in self.received]

    def _answer(self, number: int) -> tuple[int, dict[str, str], bytes]:
        merchant = read_merchant(self.received[number].content)
        return complete(json.dumps({"category": self.categories.get(merchant, "UNKNOWN")}))


def read_merchant(body: dict[str, Any]) -> str:
    merchant: str = json.loads(body["messages"][-1]["content"])["merchant"]
    return merchant

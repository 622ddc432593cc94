"""Answers in the language that a caller accepts."""

import asyncio

from kontor.api.answers import Answer
from kontor.domain.languages import DEFAULT_LANGUAGE, choose_language
from kontor.wire.translations import LANGUAGES, PIECE_BYTES, translate, translate_pieces

# Where names of tags and messages for end customers are shown.
TRANSLATED_PATHS = ("/customer/", "/tags/", "/ai/", "/adviser/")


async def translate_answer(answer: Answer, accepted: str) -> None:
    language = choose_language(accepted, LANGUAGES)
    answer.headers = answer.headers | {"Vary": "Accept-Language", "Content-Language": language}
    if language == DEFAULT_LANGUAGE:
        return
    if answer.pieces is not None:
        answer.pieces = translate_pieces(answer.pieces, language)
    elif len(answer.body) > PIECE_BYTES:
        answer.body = await asyncio.to_thread(translate, answer.body, language)
    else:
        answer.body = translate(answer.body, language)

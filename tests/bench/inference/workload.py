"""The requests that every system answers: the same token ids, greedy, a fixed number of new tokens."""

from __future__ import annotations

from typing import Any

QUESTIONS = (
    "What is the capital of France?",
    "List three fruits.",
    "Write a Python function that adds two numbers.",
    "What is 17 * 23?",
    "Translate to French: I like cats.",
    "Write a long story about a dragon.",
    "Give me a JSON object with a name and an age.",
    "用中文介绍一下北京。",
    "Explain gravity to a child.",
    "Why is the sky blue?",
    "Name a prime number above 100.",
    "Who wrote Hamlet, and when?",
    "Describe the sea at night in two sentences.",
    "What are the rules of chess?",
    "Write a haiku about rain.",
    "How does a tide gauge work?",
)


def prompts(tokenizer: Any, count: int) -> list[list[int]]:
    """Token ids of ``count`` chats, the questions in turn."""
    texts = [
        tokenizer.apply_chat_template(
            [{"role": "user", "content": question}], add_generation_prompt=True, tokenize=False
        )
        for question in QUESTIONS
    ]
    ids = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
    return [ids[index % len(ids)] for index in range(count)]

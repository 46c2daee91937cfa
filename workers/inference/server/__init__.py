"""HTTP: the OpenAI dialect over asyncio and h11."""

"""An OpenAI-compatible server with scripted behaviour, for tests, demonstrations and fire drills."""

"""Evals over the API: sets and their versions, runs, files of results, and the reports on both."""

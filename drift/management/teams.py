"""Which team a command is about."""

from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import CommandError

from drift.models import Team


def add_team(parser: ArgumentParser) -> None:
    parser.add_argument("--team", metavar="NAME", help="needed only where there are several")


def team_named(name: str | None) -> Team:
    """The team of that name, or the only one. Raises CommandError."""
    teams = list(Team.objects.filter(name=name) if name else Team.objects.all())
    if len(teams) == 1:
        return teams[0]
    if not teams:
        raise CommandError(
            f"There is no team called {name!r}." if name else "There is no team yet: manage.py provision"
        )
    known = ", ".join(sorted(team.name for team in teams))
    raise CommandError(f"There are several teams: choose one with --team ({known}).")

"""Options of commands, and how ``--help`` lists them: a command's own first, shared ones under headings."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeAlias

import click

Decorator: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]
"""Gives a command options."""

STORE_SETTINGS = (
    "store",
    "requests_per_hour",
    "reserve",
    "jobs_per_hour",
    "settle_days",
    "organization",
)
"""The options of the store and the budget that the client takes under the same name."""
SECTIONS: dict[str, tuple[str, ...]] = {
    "Store and budget": (*STORE_SETTINGS, "on_budget"),
    "Connection": ("base_url", "project", "api_key_file", "ca_bundle"),
}
LEAST_ALIKE = 0.8
"""How alike an unknown command and the one that may be meant are at least. By this measure, "versions" and "conversations" are 0.76."""
_HEADINGS = {name: heading for heading, names in SECTIONS.items() for name in names}


def options(*given: Callable[..., Any]) -> Decorator:
    """A decorator that gives a command several options, in this order."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(given):
            command = option(command)
        return command

    return decorate


def number_option(*names: str, least: int = 1, most: int | None = None, **more: Any) -> Decorator:
    """An option that takes a whole number of at least ``least``."""
    return click.option(*names, type=_Number(least, most), metavar="N", show_default=True, **more)


class _Number(click.IntRange):
    """A whole number that the extension can take, too."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuses what is out of range, before anything is sent."""
        number = super().convert(value, param, ctx)
        if number >= 1 << 63:
            self.fail(f"{number} is too large.", param, ctx)
        return number


class Command(click.Command):
    """A command whose ``--help`` has these headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options, heading by heading."""
        sections: dict[str, list[tuple[str, str]]] = {heading: [] for heading in ("Options", *SECTIONS)}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                sections[_HEADINGS.get(param.name or "", "Options")].append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


class Group(click.Group):
    """A group whose commands are of the class above."""

    command_class: type[click.Command] | None = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds a command. The error about an unknown one names those that may be meant."""
        name = args[0]
        if name in self.commands or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        below = [
            f"{group} {name}"
            for group, found in self.commands.items()
            if name in getattr(found, "commands", {})
        ]
        meant = " or ".join(map(repr, below or get_close_matches(name, self.commands, 1, LEAST_ALIKE)))
        raise click.UsageError(f"No such command {name!r}.{f' Did you mean {meant}?' if meant else ''}", ctx)

"""Names that lead where a test says, in a process of its own."""

from __future__ import annotations

from pathlib import Path


class Resolver:
    """A table of names; ``environment`` is for the process that is to believe it."""

    def __init__(self, library: Path, directory: Path) -> None:
        self._table = directory / "hosts"
        self._asked = directory / "hosts.asked"
        self._names: dict[str, str] = {}
        self.environment = {"LD_PRELOAD": str(library), "TEST_HOSTS": str(self._table)}

    def leads(self, name: str, *addresses: str, after: float = 0) -> None:
        """From now on; without addresses to nowhere. ``after`` is in seconds."""
        self._names[name] = " ".join([name, str(round(after * 1_000)), *addresses])
        new = self._table.with_suffix(".new")
        new.write_text("\n".join(self._names.values()) + "\n")
        new.replace(self._table)

    @property
    def asked(self) -> list[str]:
        """The names that were looked up."""
        return self._asked.read_text().split() if self._asked.exists() else []

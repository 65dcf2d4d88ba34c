"""Modules that the extension imports by name. Each does one thing that is easier in Python."""

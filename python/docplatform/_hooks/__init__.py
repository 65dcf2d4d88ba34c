"""Modules for the extension, which imports most of them by name. Each does one thing that is easier in Python."""

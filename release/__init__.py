"""Checks of what is published: `make release-check` and `make reproducible`."""

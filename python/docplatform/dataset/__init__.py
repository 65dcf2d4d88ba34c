"""Reads a store without a client: its slices, and a dataset of them."""

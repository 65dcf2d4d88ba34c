"""Reads a store without a client: its slices, a dataset of them, and parts of either for engines that read in many processes."""

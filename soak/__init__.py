"""A soak: the client against a server that breaks at random, and an account of everything that came of it."""

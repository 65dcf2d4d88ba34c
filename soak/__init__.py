"""A soak: the client works against a server that fails at random, and its results are compared with the server's."""

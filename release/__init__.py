"""What is published: how it is made and checked (`make release-check`, `make reproducible`)."""

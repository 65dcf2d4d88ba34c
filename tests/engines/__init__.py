"""Tests with Spark, Dask and a local S3 server: `make test-engines`."""

"""What runs where Spark and Dask are installed: `make test-engines`."""

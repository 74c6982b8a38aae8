"""Work of a run on the workers of a Dask cluster: what is sent there, what is done there."""

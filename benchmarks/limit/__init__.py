"""The limit: what is left of an endpoint when everything but HTTP and the queries is taken away."""

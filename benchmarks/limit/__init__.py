"""The limit: what is left of an endpoint when everything but HTTP and the look-up of the token is taken away."""

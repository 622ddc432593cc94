"""How Kontor bears many users and many jobs: `./dev bench --growth` and `./dev bench --jobs`."""

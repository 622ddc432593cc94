"""`--actual`: Kontor beside Actual Budget's own server and client, with the same bookings."""

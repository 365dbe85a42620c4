"""What `just growth` and `just bench` measure, each in processes of its own."""

"""What has happened? One frozen class for each kind of event that journals hold. Pure."""

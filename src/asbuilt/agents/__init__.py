"""Who does the work? Agents in host processes that outlive us, and the adapters that drive them."""

"""The durable engine: DBOS, the worker, its lease, and the fence around its writes."""

"""What a sandboxed process may read, write and reach, as data for the kernel. Pure."""

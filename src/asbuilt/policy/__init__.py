"""Who may do what now? Permission decisions and the kernel ring. Pure and light: a hook loads this."""

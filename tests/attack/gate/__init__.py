"""The shell gate, the ring and the hook, attacked by somebody who did not write them."""

"""Events as JSON: encode, decode, and convert from older versions."""

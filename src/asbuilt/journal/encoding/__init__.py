"""Events as JSON: encode, decode, and read what older versions wrote."""

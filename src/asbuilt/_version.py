"""The version, readable without any import machinery."""

VERSION = "0.1.0"

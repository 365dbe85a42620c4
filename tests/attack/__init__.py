"""What is done to asbuilt on purpose, to see that it holds."""

"""What do checks find where they run?"""

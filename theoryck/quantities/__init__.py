"""What can be measured; each quantity offers exact(...), draw(...) or both."""

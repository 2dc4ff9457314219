"""The pytest plugin of theoryck."""

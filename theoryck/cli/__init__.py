"""The theoryck program: one small module per command."""

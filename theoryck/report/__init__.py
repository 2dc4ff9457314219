"""Renderers of records: text and JSON."""

"""What the extension imports by name: each module does one thing that is naturally Python's."""

"""A session folder of the OpenAgent benchmark."""

"""The bundled sample agent: a small analytics agent that computes its answers without a model."""

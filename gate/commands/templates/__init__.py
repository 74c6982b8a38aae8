"""What `gate init` writes: gate.yml, three workflows and a first dataset."""

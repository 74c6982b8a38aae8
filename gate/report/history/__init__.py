"""The runs of the past as a table, with the changes of level named: what `gate history` tells."""

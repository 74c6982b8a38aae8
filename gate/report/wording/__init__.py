"""What every report says, before it has any markup: figures, sentences, table rows."""

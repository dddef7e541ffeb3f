"""Text tables: found format, chunks of whole records, values with places."""

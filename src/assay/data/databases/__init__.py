"""Tables, joins and queries of databases."""

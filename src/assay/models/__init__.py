"""One file per method, in folders by question; registry.py lists them."""

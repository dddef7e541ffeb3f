"""Terms and documents."""

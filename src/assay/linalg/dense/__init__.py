"""Dense matrices: factorisations, solving, spaces and properties."""

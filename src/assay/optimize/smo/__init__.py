"""Sequential minimal optimisation of the quadratic programs of kernel machines."""

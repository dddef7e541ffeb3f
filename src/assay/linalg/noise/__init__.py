"""What chance makes of a spectrum or a statistic: laws, permutations, draws."""

"""What a column is, and how it becomes numbers and back."""

"""What a user can cause and mend."""


class Problem(Exception):
    """One line for stderr: what is wrong, where, what to do. The command ends with exit code 1."""

"""Files that are either as before or whole."""

import os


def write(path: str, data: bytes, mode: int = 0o644) -> None:
    """Writes the file, and its folder where there is none."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    scratch = f"{path}.{os.getpid()}.tmp"
    try:
        with open(scratch, "wb") as file:
            file.write(data)
        os.chmod(scratch, mode)
        os.replace(scratch, path)
    except BaseException:
        if os.path.exists(scratch):
            os.unlink(scratch)
        raise

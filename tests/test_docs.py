"""The generated pages say what the tables say."""

import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def test_operations_page_is_fresh() -> None:
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "docs.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

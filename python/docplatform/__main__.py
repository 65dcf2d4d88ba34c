"""``python -m docplatform``."""

import sys

from docplatform.cli import main

if __name__ == "__main__":
    sys.exit(main())

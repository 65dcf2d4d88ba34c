"""``python -m docplatform``."""

import sys

from docplatform.cli import main

sys.exit(main())

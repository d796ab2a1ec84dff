"""`python -m materiac`."""

import sys

from materiac.cli import main

sys.exit(main())

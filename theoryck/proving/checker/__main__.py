"""``python -m theoryck.proving.checker FILE``: what a certificate proves, or the field that is refused."""

import json
import sys
from pathlib import Path

from theoryck.proving.checker import check

if __name__ == "__main__":
    try:
        print(check(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
    except (OSError, ValueError, IndexError) as error:
        raise SystemExit(f"refused: {error}") from None

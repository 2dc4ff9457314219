"""The site: ``python -m sphinx -W -n docs build/site`` writes it, and ``build/site/index.html`` is where it begins."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # the extension and the tests beside it; theoryck, where it is not installed

import theoryck  # noqa: E402

project = "theoryck"
author = copyright = "The theoryck developers"
version = release = theoryck.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "extension"]
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "formulas"
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["extension", "tables", "calibration.txt"]

add_module_names = False
smartquotes = False  # "--rate" and "erf" are what one types
autodoc_member_order = "bysource"
autodoc_type_aliases = {"ArrayLike": "ArrayLike", "Array": "ndarray"}  # in words, not as what numpy makes of them
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100

html_theme = "furo"
html_title = "theoryck"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_search_summary = False  # they would be fetched, which browsers refuse to pages that are files
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}

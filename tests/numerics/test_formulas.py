"""Arrays as the limits take them, and what is none."""

import pytest

from theoryck.numerics.proved.formulas import real_array


@pytest.mark.parametrize("value", [None, [None, 1.0], [1j], "1", [["a"]], [True]])
def test_what_is_no_array_of_real_numbers_is_named(value):
    with pytest.raises(ValueError, match="gram must hold real numbers"):
        real_array(value, "gram")

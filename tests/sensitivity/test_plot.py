"""The picture: what is in it, where it goes, what is refused."""

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.errors import MissingExtraError
from dualad.sensitivity.plot import check_picture, save_time_courses

from .models import chain
from .test_reference import result


def test_a_png_is_written_and_its_path_returned(tmp_path):
    r = ds.ode(chain, [1.0, 0.0], {"a": 1.3, "b": 0.4}, (0.0, 3.0), dense_output=True)
    path = save_time_courses(r, tmp_path / "courses.png", "a title")
    assert path == (tmp_path / "courses.png").resolve()
    assert path.read_bytes().startswith(b"\x89PNG")
    from matplotlib.image import imread

    height, width = imread(path).shape[:2]
    assert width > 1000 and height > 500


def panels_of(result, tmp_path, monkeypatch):
    """The panels of the figure that is written."""
    from matplotlib.figure import Figure

    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: drawn.append(self))
    save_time_courses(result, tmp_path / "x.png")
    return drawn[0].axes


def test_one_panel_a_state_and_one_line_a_parameter(tmp_path, monkeypatch):
    r = result()
    panels = panels_of(r, tmp_path, monkeypatch)
    assert len(panels) == 2
    for i, panel in enumerate(panels):
        assert r.outputs[i] in panel.get_ylabel()
        lines = {line.get_label(): line for line in panel.get_lines()}
        for j, (name, value) in enumerate(r.parameters.items()):
            x, y = lines[f"{name} = {value:g}"].get_data()
            np.testing.assert_array_equal(x, r.t)
            np.testing.assert_array_equal(y, value * r.S[:, i, j])
    assert panels[-1].get_xscale() == "linear"


def test_many_decades_of_time_have_a_logarithmic_axis(tmp_path, monkeypatch):
    r = result().replace(t=np.array([1e-3, 1e3]))
    assert panels_of(r, tmp_path, monkeypatch)[-1].get_xscale() == "log"
    r = result().replace(t=np.array([0.0, 1e3]))
    assert panels_of(r, tmp_path, monkeypatch)[-1].get_xscale() == "linear"


def test_a_place_where_nothing_can_be_written_is_refused_before_the_run(tmp_path):
    with pytest.raises(ds.SensitivityError, match="no such folder"):
        check_picture(tmp_path / "none" / "x.png")
    with pytest.raises(ds.SensitivityError, match=r"x\.doc must end with one of.*\.png"):
        check_picture(tmp_path / "x.doc")


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(MissingExtraError, match=r"matplotlib.*pip install dualad\[sens\]"):
        check_picture(tmp_path / "x.png")

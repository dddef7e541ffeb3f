"""A folder to work in, with a small table."""

import pytest

ROWS = "a,b,c\n" + "".join(f"{i}.5,{i * 7 % 11},{i * 5 % 17}\n" for i in range(40))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which commands run, with a table d.csv of three columns."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(ROWS)
    return tmp_path

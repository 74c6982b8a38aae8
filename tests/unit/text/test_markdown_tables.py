from gate.text.markdown_tables import find_tables


def read(text):
    return [
        [(text[c.start : c.end].strip(), c.column) for c in table.cells]
        for table in find_tables(text)
    ]


def test_each_cell_has_its_column():
    assert read("x\n\n| a | b |\n|:-:|--|\n| 1 | 2 |\n| 3 |\n\n5 | 6\n") == [
        [("1", "a"), ("2", "b"), ("3", "a")]
    ]
    assert read("a | b\n-|-\n1 | 2 | 3\n") == [[("1", "a"), ("2", "b"), ("3", "")]]


def test_a_bar_that_is_escaped_parts_no_cells():
    assert read("a \\| b | c\n-|-\n1 \\| 2 | 3") == [[("1 \\| 2", "a \\| b"), ("3", "c")]]


def test_what_is_no_table():
    for text in ("", "a | b", "a\n---\nb", "a | b\n1 | 2", "| -"):
        assert find_tables(text) == ()


def test_cells_lie_in_their_row_and_rows_in_their_table():
    text = "| a |\n|---|\n| 1 |\n\n| b |\n|---|\n| 2 |"
    for table in find_tables(text):
        for cell in table.cells:
            assert table.start <= cell.row[0] <= cell.start <= cell.end <= cell.row[1] <= table.end

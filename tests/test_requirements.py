"""docs/requirements.md and every link and reference of the documents lead somewhere."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
ID = r"(?:S\d-|B|V-|G-)\d+"
IDS = rf"{ID}(?:(?: to |, ){ID})*"  # demands that one row meets
ROW = re.compile(rf"^\| ({IDS}) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
COMPLAINTS = (ROOT / "docs" / "complaints.md").read_text(encoding="utf-8")
ROWS = {found[1]: found for found in ROW.finditer(PAGE)}
DEMANDS = {"S1-": 60, "S2-": 39, "S3-": 79, "B": 58, "V-": 75, "G-": 32}  # how many there are
DOCUMENTS = sorted(
    [
        *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
        ROOT / "tests" / "README.md",
    ]
)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(<?([^()\s>]+)>?\)")
ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:", re.IGNORECASE)
MACHINE = re.compile(r"(?<![\w.:/~$}-])(?:/(?:home|root|Users|private|mnt|srv)\b|[A-Z]:\\)")
REFERENCE = re.compile(r"\bdocs/([\w/.-]+\.md)(?:[ #]+(\d))?")


def demands(cell: str) -> list[str]:
    """The four that `B1 to B3, B7` names."""
    found = []
    for part in cell.split(", "):
        first, _, last = part.partition(" to ")
        prefix, number = re.fullmatch(r"(.*\D)(\d+)", first).groups()
        end = int(re.fullmatch(r".*\D(\d+)", last or first)[1])
        width = 1 if prefix == "B" else 2
        found += [f"{prefix}{each:0{width}}" for each in range(int(number), end + 1)]
    return found


def named(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@cache
def functions(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def slug(heading: str) -> str:
    """The anchor that GitHub makes of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(path: Path) -> set[str]:
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    seen: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", text, re.MULTILINE):
        name = slug(heading)
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


def check_tests(names: list[str]) -> None:
    """Each is a file below tests/, or a function of one."""
    for name in names:
        file, _, function = name.partition("::")
        path = ROOT / "tests" / file
        assert path.is_file(), file
        assert path.name.startswith("test_"), file
        assert not function or function in functions(path), name


# ----------------------------------------------------------------------------- docs/requirements.md


@pytest.mark.parametrize("cell", ROWS)
def test_what_holds_a_demand_exists(cell: str) -> None:
    _, _, modules, tests = ROWS[cell].groups()
    assert named(modules)
    assert named(tests)
    for name in named(modules):
        assert (ROOT / "gate" / name).is_file() or (ROOT / name).is_file(), name
    check_tests(named(tests))


def test_every_complaint_has_an_answer_and_a_test() -> None:
    rows = re.findall(r"^\| (.+?/.+?) \| (.+?) \| (.+?) \| (`.+?`) \|$", COMPLAINTS, re.MULTILINE)
    assert len(re.findall(r"^\|(?! thread|:--)", COMPLAINTS, re.MULTILINE)) == len(rows) > 40
    for _, _, _, tests in rows:
        check_tests(named(tests))
    assert [one for one, times in Counter(threads(rows)).items() if times > 1] == []


def threads(rows: list[tuple[str, ...]]) -> list[str]:
    """`owner/repository#number`, also of `owner/repository#1, #2`."""
    found = []
    for row in rows:
        for group in row[0].split("; "):
            repository, _, numbers = group.partition("#")
            found += [f"{repository}#{number.strip(' #')}" for number in numbers.split(",")]
    return found


def test_every_demand_is_met_in_one_row() -> None:
    everything = {
        f"{prefix}{number}" if prefix == "B" else f"{prefix}{number:02}"
        for prefix, count in DEMANDS.items()
        for number in range(1, count + 1)
    }
    counted = Counter(one for row in ROW.finditer(PAGE) for one in demands(row[1]))
    assert set(counted) == everything
    assert [demand for demand, times in counted.items() if times > 1] == []


# ----------------------------------------------------------------------------- links and references


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(path: Path) -> None:
    broken = []
    for target in LINK.findall(FENCE.sub("", path.read_text(encoding="utf-8"))):
        if ELSEWHERE.match(target):
            continue
        name, _, anchor = target.partition("#")
        there = path.parent / name if name else path
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_document_names_a_path_of_a_machine(path: Path) -> None:
    assert MACHINE.findall(path.read_text(encoding="utf-8")) == []


def test_what_a_path_of_a_machine_looks_like() -> None:
    for text in ("in /home/me/x", "(/mnt/main)", r"C:\Users", "`/root`"):
        assert MACHINE.search(text), text
    for text in ("https://a.example/home/x", "pass/home", "./root", "~/home", "a read-only /etc"):
        assert not MACHINE.search(text), text


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert {page for page in pages if f"]({page})" not in index} == set()


def test_what_code_refers_to_exists() -> None:
    """`docs/page.md 4` in a comment is a page, and a numbered section of it."""
    sources = [path for folder in ("gate", "tests") for path in (ROOT / folder).rglob("*.py")]
    found = 0
    for path in sources:
        for page, section in REFERENCE.findall(path.read_text(encoding="utf-8")):
            if path == Path(__file__) or path.parent.name == "data":
                continue
            target = ROOT / "docs" / page
            assert target.is_file(), f"{path.name}: docs/{page}"
            text = target.read_text(encoding="utf-8")
            assert not section or re.search(rf"^## {section}\. ", text, re.MULTILINE), (
                f"{path.name}: docs/{page} {section}"
            )
            found += 1
    assert found >= 20


def test_the_semantics_have_their_nine_sections() -> None:
    text = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\d)\. ", text, re.MULTILINE) == [str(n) for n in range(1, 10)]

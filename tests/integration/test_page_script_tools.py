"""The scripts of the pages keep to its types (JSDoc, read by tsc) and the rules of a linter."""

import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT

SCRIPTS = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("gate/report/*/script"))
TOOLS = {
    "tsc": ("-p", "tests/page_script/tsconfig.json"),
    "biome": ("lint", "--error-on-warnings", "--config-path=tests/page_script", *SCRIPTS),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_no_tool_finds_anything(gate_node_modules: Path, tool: str) -> None:
    program = gate_node_modules / ".bin" / tool
    if not program.exists():
        pytest.skip(f"{tool} is not in GATE_NODE_MODULES; .ci/run installs it")
    run = [str(program), *TOOLS[tool]]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

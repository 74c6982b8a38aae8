#!/usr/bin/env bash
# Installs the tools whose results are imported or whose rules are compared, readers of ours and what installs us, pinned, each in an environment of its own:
# tests/install_peers.sh FOLDER [NAME ...]. Tests find them through GATE_PEERS=FOLDER and are skipped
# by name where one is missing. What is there already stays.
set -uo pipefail

folder=$1
examples=$(cd "$(dirname "$0")/../examples" && pwd)
shift
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(pydantic-evals deepeval inspect-ai promptfoo swebench bfcl-eval junit rules examples installers)
mkdir -p "$folder"

install() {
  case $1 in
    pydantic-evals) python "$1" pydantic-evals==2.62.0 httpx ;;
    deepeval) python "$1" deepeval==4.3.1 ;;
    inspect-ai) python "$1" inspect-ai==0.3.285 openai orjson ;;  # the gate reads there, too
    swebench) python "$1" swebench==5.0.2 ;;
    bfcl-eval) python "$1" bfcl-eval==2026.3.23 soundfile ;;
    # What the agents of examples/ are made with.
    examples) python "$1" -r "$examples/langgraph/requirements.txt" -r "$examples/mcp-tools/requirements.txt" ;;
    # What the README installs Agent Gate with.
    installers) python "$1" pipx==1.18.4 uv==0.13.9 ;;
    # Two readers of JUnit files, and the schema of Jenkins, which the source of pytest has.
    junit) python "$1" xmlschema==4.3.2 junitparser==5.0.3 && junit_schema "$1" ;;
    # Three tools that compare runs, without what their other commands need (benchmarks/peer_rules.py).
    rules) wheels "$1" nemo-evaluator==0.3.0 multivon-eval==0.17.0 agent-regress-cli==0.1.9 ;;
    # Without the software kits of every vendor, which are seven eighths of it. It wants a newer
    # Node than many machines have, and the database's binding is an optional package.
    promptfoo) node "$1" promptfoo@0.123.1 node@24.21.0 @libsql/linux-x64-gnu@0.5.29 ;;
    *) echo "no such tool: $1" >&2 && return 1 ;;
  esac
}

python() {
  local place=$folder/$1
  [ -x "$place/bin/python" ] || python3 -m venv "$place" || return 1
  "$place/bin/pip" install --quiet --no-compile --disable-pip-version-check "${@:2}"
}

wheels() {
  python3 -m pip install --quiet --no-compile --disable-pip-version-check --no-deps --upgrade \
    --only-binary=:all: --python-version 3.12 --ignore-requires-python --target "$folder/$1" "${@:2}"
}

junit_schema() {
  local place=$folder/$1
  "$place/bin/pip" download --quiet --no-deps --no-binary pytest --dest "$place" pytest==8.4.2 &&
    tar --extract --gzip --file "$place/pytest-8.4.2.tar.gz" --directory "$place" --strip-components 3 \
      pytest-8.4.2/testing/example_scripts/junit-10.xsd
}

node() {
  command -v npm >/dev/null || return 1
  mkdir -p "$folder/$1"
  echo '{"private": true}' >"$folder/$1/package.json"
  npm install --prefix "$folder/$1" --no-audit --no-fund --silent --omit=optional --omit=peer "${@:2}"
}

for name in "${names[@]}"; do
  stamp=$folder/$name/.installed-$(cat "$0" "$examples"/*/requirements.txt | sha256sum | cut -c1-12)
  [ -e "$stamp" ] && continue
  if install "$name"; then touch "$stamp"; else echo "skipped: $name could not be installed"; fi
done

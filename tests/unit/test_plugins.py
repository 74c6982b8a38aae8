from dataclasses import dataclass
from pathlib import Path

from gate.agents.under_test import begin
from gate.plugins import AgentTraits, ChecksCases, GraderTraits, World, build, read_traits
from gate.records import PluginSpec
from gate.registry import Registry


class Bare:
    """A plug-in with none of the optional members."""


def test_a_plugin_without_optional_members_has_their_defaults():
    assert read_traits(GraderTraits, Bare()) == GraderTraits()
    assert read_traits(AgentTraits, Bare()) == AgentTraits()
    assert GraderTraits().decides
    assert not AgentTraits().plays_back
    assert not isinstance(Bare(), ChecksCases)


def test_optional_members_are_read_from_attributes_and_properties():
    class Grader:
        decides = False
        fills = ("safety_violations",)

        @property
        def role(self):
            return "judge"

    traits = read_traits(GraderTraits, Grader())
    assert traits == GraderTraits(decides=False, fills=("safety_violations",), role="judge")


def test_only_an_agent_with_begin_is_started_early(tmp_path):
    begun = []

    class Slow:
        def begin(self, world):
            begun.append(world.root)

    world = World(env={}, root=tmp_path)
    begin(Bare(), world)
    begin(Slow(), world)
    assert begun == [tmp_path]


def test_files_of_a_plugin_are_found_from_the_folder_of_the_config(tmp_path):
    kind = Registry("kind", "gate.graders")

    @kind.register("named")
    @dataclass(frozen=True)
    class Named:
        file: str

        def rooted(self, root: Path):
            return Named(str(root / self.file))

    @kind.register("plain")
    @dataclass(frozen=True)
    class Plain:
        file: str

    options = {"file": "a.json"}
    assert build(kind, PluginSpec(name="named", options=options), tmp_path).file == str(
        tmp_path / "a.json"
    )
    assert build(kind, PluginSpec(name="plain", options=options), tmp_path).file == "a.json"

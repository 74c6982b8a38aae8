"""Does the answer mean what the expected one means?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from gate.errors import GraderFailure, UsageError
from gate.graders.scales.share import ShareGrader
from gate.graders.similarity.embedding import EXTRA, cosine, is_installed, locate_function, vector
from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Response, Score
from gate.text import figures
from gate.text.markdown_blocks import LIMIT

METRIC = "correctness.semantic_similarity"


class _Rooted(ShareGrader):
    """A place for the folder of gate.yml; a dataclass field would be an option."""

    __slots__ = ("_root",)
    _root: Path


@GRADERS.register("semantic_similarity")
@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticSimilarity(_Rooted):
    """The cosine of the embeddings of the answer and of the nearest right answer in `key`; below 0
    it counts as 0. Passes from `pass_at` on. `embed`: your function `texts -> vectors`; without it
    a small model of the extra `similarity` computes the embeddings.
    """

    key: str = "expected_answer"
    embed: str | None = None

    metric: ClassVar = MetricSpec(
        name=METRIC,
        column=METRIC,
        unit="share",
        description="cosine of the embeddings of the answer and of the expected one",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "_root", Path())
        self.check_pass_at("semantic_similarity")

    def rooted(self, root: Path) -> SemanticSimilarity:
        """The grader with `embed` located from `root`. Raises UsageError if nothing can compute
        embeddings.
        """
        if self.embed is not None:
            rooted_grader = replace(self, embed=locate_function(self.embed, root))
            object.__setattr__(rooted_grader, "_root", root)
            return rooted_grader
        if not is_installed():
            raise UsageError(
                f"semantic_similarity: no model for embeddings is installed: {EXTRA}, or name a "
                "function of yours as `embed: module:function` (in the container image only that)"
            )
        return self

    @property
    def keys(self) -> Mapping[str, Json]:
        return {self.key: {"type": ["string", "number", "boolean", "array"]}}

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.key,)

    @property
    def outside(self) -> bool:
        return self.embed is not None

    def grade(self, case: Case, response: Response) -> Score:
        written = case.keys.get(self.key)
        listed = written if isinstance(written, list) else [written]
        expected = [
            str(right_answer)[:LIMIT]
            for right_answer in listed
            if right_answer is not None and str(right_answer).strip()
        ]
        if not expected:
            return self.without_value()
        answer = response.answer[:LIMIT]
        nearest = (
            max(self._cosine(answer, right_answer) for right_answer in expected)
            if answer.strip()
            else 0.0
        )
        # Sums in another order differ after six digits.
        value = round(min(1.0, max(0.0, nearest)), 6)
        limits = () if self.pass_at is None else (self.pass_at,)
        shown = figures.value(value, "share", limits=limits)
        reason = f"cosine {shown} with the nearest expected answer"
        return self.score(value, reason, ["not_similar"])

    def _cosine(self, answer: str, expected: str) -> float:
        try:
            answer_vector = vector(answer, self.embed, self._root)
            return cosine(answer_vector, vector(expected, self.embed, self._root))
        except Exception as error:  # the user's function, the model, or vectors that are none
            is_own_failure = isinstance(error, GraderFailure)
            message = str(error) if is_own_failure else f"{type(error).__name__}: {error}"
            raise GraderFailure(
                f"{self.embed or 'the model'} gave no vectors: {message}"[:300]
            ) from error

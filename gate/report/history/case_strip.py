"""How often each case passed, run by run, as a table that can be read without its colours."""

from __future__ import annotations

from collections.abc import Sequence

from gate.records.history import CaseCourse, CaseCourses, PastRun
from gate.report.history import cells
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.html_markup import Markup, join_markup, markup


def draw_strip(courses: CaseCourses, runs: Sequence[PastRun], suite: str) -> Markup:
    """A row a case that failed, the worst first, a column a run; a cell says how many of its
    rounds passed. `runs`: all that are shown.
    """
    newest = runs[-courses.runs :]
    said = f"{figures.count(courses.steady, 'case')} never failed and "
    said += f"{'is' if courses.steady == 1 else 'are'} not listed."
    if courses.left_out:
        more = figures.count(courses.left_out, "more case")
        said += f" {more} failed in these runs: only the {len(courses.cases)} worst are listed."
    if len(runs) > len(newest):
        said += f" Only the newest {len(newest)} runs are shown."
    head = markup(
        '<section><h3>Cases by run</h3><p class="soft">Rounds that passed, of the judged ones; the '
        "cases that fail now come first. %s</p>\n",
        said,
    )
    if not courses.cases:
        return markup("%s</section>\n", head)
    return markup(
        '%s<div class="wide strip" role="region" aria-label="%s" tabindex="0"><table>\n'
        '<thead><tr><th scope="col">Case</th>%s</tr></thead><tbody>\n%s</tbody></table></div>'
        "</section>\n",
        head,
        f"Cases of {one_line(suite, 80)} by run",
        join_markup(_head(run) for run in newest),
        join_markup(_row(course) for course in courses.cases),
    )


def _head(run: PastRun) -> Markup:
    date = cells.date(run.created_at)
    said = f"{date}, {cells.commit(run.commit)}"
    return markup('<th scope="col" title="%s">%s</th>', said, date[5:10])


def _row(course: CaseCourse) -> Markup:
    return markup(
        '<tr><th scope="row"><code>%s</code></th>%s</tr>\n',
        one_line(course.case_id, 120),
        join_markup(map(_cell, course.rounds)),
    )


def _cell(rounds: tuple[int, int] | None) -> Markup:
    if rounds is None:
        return Markup('<td class="none">–</td>')
    passed, judged = rounds
    if passed == judged:
        return markup('<td class="all">%s/%s</td>', passed, judged)
    kind = "no" if not passed else "few" if 2 * passed < judged else "most"
    return markup('<td class="%s">%s/%s</td>', kind, passed, judged)

import { plain } from "./hidden.js";

/** @typedef {import("./blocks.js").Index} Index */
/**
 * @typedef {object} View what the address says: which cases are listed, in which order, which is open
 * @property {string} f a key of STATES, or empty
 * @property {string} suite
 * @property {string} category
 * @property {string} mode
 * @property {string} grader
 * @property {string} q words, all of which a case has
 * @property {string} s a column's key, after `-` from the largest; empty: the worst first
 * @property {string} case `suite/id` of the open case, or empty
 */

/** @type {Record<string, [string, (index: Index, at: number) => boolean]>} key -> words, and which cases */
export const STATES = {
  new: ["newly failing", (index, at) => kindOf(index, at) === "newly failing"],
  fixed: ["fixed", (index, at) => kindOf(index, at) === "newly passing"],
  worse: ["worse in a metric", (index, at) => kindOf(index, at) === "worse"],
  flaky: [
    "flaky",
    (index, at) => index.passed[at] > 0 && index.passed[at] < index.judged[at],
  ],
  always: [
    "always failing",
    (index, at) =>
      failsEveryRound(index, at) && kindOf(index, at) !== "newly failing" && !index.was_passed[at],
  ],
  failing: ["failing", isFailing],
  passing: ["passing", (index, at) => !isFailing(index, at)],
  errored: ["not answered", (index, at) => index.unanswered[at] > 0],
  added: ["added", (index, at) => kindOf(index, at) === "added"],
  changed: ["changed", (index, at) => kindOf(index, at) === "changed"],
  quarantined: ["quarantined", (index, at) => kindOf(index, at) === "quarantined"],
};

/** @param {Index} index @param {number} at */
const kindOf = (index, at) => index.kinds[index.kind[at]];
/** @param {Index} index @param {number} at */
const failsEveryRound = (index, at) => index.judged[at] > 0 && index.passed[at] === 0;
/** @param {Index} index @param {number} at */
export function isFailing(index, at) {
  return index.passed[at] < index.judged[at] || index.unanswered[at] > 0;
}

/** @param {Index} index @param {number} at */
export function stateOf(index, at) {
  const kind = kindOf(index, at);
  if (kind) return kind === "newly passing" ? "fixed" : kind;
  if (index.unanswered[at]) return "not answered";
  if (!index.judged[at]) return "not judged";
  if (!isFailing(index, at)) return "passing";
  return index.passed[at] ? "flaky" : "always failing";
}

/** @param {Index} index @param {number} at */
export const keyOf = (index, at) => `${index.suites[index.suite[at]]}/${plain(index.id[at])}`;

/**
 * Whether a case is among those that the view's choices ask for; its words are looked at apart.
 * @param {Index} index
 * @param {View} view
 * @param {number} at
 */
export function isChosen(index, view, at) {
  return (
    (!view.f || (STATES[view.f]?.[1](index, at) ?? true)) &&
    (!view.suite || index.suites[index.suite[at]] === view.suite) &&
    (!view.category || index.categories[index.category[at]] === view.category) &&
    (!view.mode || index.modes[index.mode[at]] === view.mode) &&
    (!view.grader || index.failed_by[at].some((one) => index.graders[one] === view.grader))
  );
}

/**
 * What a column sorts by; numbers, or texts.
 * @param {Index} index
 * @param {string} key
 * @returns {(at: number) => number | string | null}
 */
export function sortValue(index, key) {
  /** @param {number | null} passed @param {number | null} rounds */
  const part = (passed, rounds) => (rounds ? Number(passed) / rounds : null);
  switch (key) {
    case "case":
      return (at) => index.id[at];
    case "suite":
      return (at) => index.suites[index.suite[at]];
    case "category":
      return (at) => index.categories[index.category[at]];
    case "state":
      return (at) => stateOf(index, at);
    case "why":
      return (at) => index.modes[index.mode[at]] || index.codes[at];
    case "was":
      return (at) => part(index.was_passed[at], index.was_rounds[at]);
    case "now":
      return (at) => part(index.passed[at], index.judged[at]);
    case "latency":
    case "cost":
    case "tokens":
      return (at) => index[key][at];
    default: {
      const values = index.values[index.scores.findIndex((score) => score.name === key)];
      return (at) => values?.[at] ?? null;
    }
  }
}

/**
 * The cases in the order of the view; what has no value comes last.
 * @param {Index} index
 * @param {number[]} cases
 * @param {string} sort
 */
export function sortCases(index, cases, sort) {
  const [sign, key] = sort.startsWith("-") ? [-1, sort.slice(1)] : [1, sort];
  if (!key) return cases.sort((a, b) => index.rank[a] - index.rank[b]);
  const value = sortValue(index, key);
  const keyed = cases.map((at) => /** @type {const} */ ([value(at), at]));
  keyed.sort(([a, first], [b, second]) => {
    const least = index.rank[first] - index.rank[second];
    if (a === b) return least;
    if (a === null || a === "") return 1;
    if (b === null || b === "") return -1;
    return a < b ? -sign : sign;
  });
  return keyed.map(([, at]) => at);
}

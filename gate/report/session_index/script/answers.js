import { element } from "../../session_page/script/elements.js";
import { reveal } from "../../session_page/script/hidden.js";
import { diffWords } from "../../session_page/script/words.js";

/** @typedef {import("../../session_page/script/blocks.js").Detail} Detail */
const MOST_COMPARED = 20_000; // characters of an answer whose words are compared

/** The first round that failed, else the first. @param {Detail} detail */
const told = (detail) => detail.rounds.find((round) => round.passed === false) ?? detail.rounds[0];

/** @param {Detail | null} detail */
function answerOf(detail) {
  const round = detail && told(detail);
  if (!round) return "";
  return round.output ?? round.error ?? "";
}

/**
 * Question, what was expected, and both answers side by side.
 * @param {Detail | null} was
 * @param {Detail | null} now
 */
export function showAnswers(was, now) {
  const [before, after] = [answerOf(was), answerOf(now)];
  const compared = Boolean(was && now) && before.length + after.length <= MOST_COMPARED;
  const pieces = compared ? diffWords(before, after) : [];
  /** @param {"was" | "now"} side @param {string} text */
  const marked = (side, text) =>
    compared
      ? pieces
          .filter(([kind]) => kind === "same" || kind === side)
          .flatMap(([kind, part]) => (kind === "same" ? reveal(part) : [element(side === "was" ? "del" : "ins", {}, reveal(part))]))
      : reveal(text);
  const one = now ?? was;
  const expected = Object.entries(one?.expected ?? {}).map(
    ([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return element(
    "div",
    { class: "body" },
    element("h3", {}, "Question"),
    element("pre", {}, reveal(one?.question ?? "")),
    element(
      "div",
      { class: "two" },
      side("Before", was, marked("was", before)),
      side("After", now, marked("now", after)),
    ),
    expected.length > 0 && [element("h3", {}, "Expected"), element("pre", {}, reveal(expected.join("\n")))],
  );
}

/** @param {string} title @param {Detail | null} detail @param {(Node | string)[]} answer */
function side(title, detail, answer) {
  const round = detail && told(detail);
  const passed = { true: "passed", false: "failed", null: "not judged" }[String(round?.passed ?? null)] ?? "";
  return element(
    "div",
    {},
    element("h3", {}, detail ? `${title}, round ${round?.round ?? 1} ${passed}` : title),
    detail ? element("pre", {}, answer) : element("p", { class: "soft" }, "Nothing is kept of this case."),
    round && round.failures.length > 0 && element("p", { class: "soft" }, reveal(round.failures.join(", "))),
  );
}

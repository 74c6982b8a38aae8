import { openCase } from "./blocks.js";
import { stateOf } from "./cases.js";
import { element } from "./elements.js";
import { count, figure, share } from "./figures.js";
import { plain, reveal } from "./hidden.js";
import { toneOf } from "./list.js";
import { diffWords } from "./words.js";

/** @typedef {import("./blocks.js").Index} Index */
/** @typedef {import("./blocks.js").Detail} Detail */
/** @typedef {import("./blocks.js").Round} Round */
/** @typedef {import("./elements.js").Part} Part */
/** @typedef {{diff: boolean}} Look */

const ROUNDING = 1e-5; // means of the base branch are rounded

/**
 * The page of one case.
 * @param {Index} index
 * @param {number} at
 * @param {Look} look
 */
export async function showCase(index, at, look) {
  const detail = await openCase(index, at);
  const head = header(index, at);
  if (!detail) {
    const said = "Its questions, answers and steps are left out of this page; they are in details.jsonl.";
    return [...head, element("p", { class: "note" }, said)];
  }
  return [
    ...head,
    detail.worse.length > 0 && element("p", {}, "Worse: ", detail.worse.map((text) => codeOf(text))),
    detail.history.length > 0 &&
      element("p", {}, "Passed rounds of the baseline, run by run: ", detail.history.map(([passed, rounds]) => share(passed, rounds)).join(" ")),
    element(
      "div",
      { class: "sides" },
      element("div", { class: "asked" }, titled("Question", detail.question), expectedOf(detail)),
      answers(detail, look),
    ),
  ];
}

/** @param {Index} index @param {number} at */
function header(index, at) {
  const state = stateOf(index, at);
  const where = [index.suites.length > 1 && index.suites[index.suite[at]], index.categories[index.category[at]]];
  const was = index.was_rounds[at] ? `${share(index.was_passed[at], index.was_rounds[at])} → ` : "";
  return [
    element("h3", { tabindex: -1 }, reveal(index.id[at]), " ", element("em", { class: toneOf(state) }, state)),
    element(
      "p",
      { class: "soft" },
      plain([...where.filter(Boolean), `${was}${share(index.passed[at], index.judged[at])} rounds passed`].join(" · ")),
    ),
    index.command ? command(index, at) : null,
  ];
}

/** @param {Index} index @param {number} at */
function command(index, at) {
  const suite = index.suites.length > 1 ? ` --suite ${quote(index.suites[index.suite[at]])}` : "";
  const text = plain(`${index.command}${suite} --case ${quote(index.id[at])}`);
  const shown = element("code", {}, text);
  const copy = element("button", { type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    } catch {
      getSelection()?.selectAllChildren(shown);
      copy.textContent = "Selected: press Ctrl+C";
    }
  });
  return element("p", { class: "command" }, shown, " ", copy);
}

/** A word of a shell. @param {string} word */
const quote = (word) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** What the dataset expects, key by key. @param {Detail} detail */
function expectedOf(detail) {
  const keys = Object.entries(detail.expected);
  if (!keys.length) return null;
  const parts = keys.map(([key, value]) => [element("h5", {}, reveal(key)), pre(expectedText(value))]);
  return element("section", { class: "expected" }, element("h4", {}, "Expected"), parts.flat());
}

/**
 * A line for each of several; of a fact only its value.
 * @param {any} value
 * @returns {string}
 */
function expectedText(value) {
  if (Array.isArray(value)) return value.map(expectedText).join("\n");
  const fact = value !== null && typeof value === "object" ? value.value : undefined;
  if (fact === undefined) return textOf(value);
  return Array.isArray(fact) ? fact.map(textOf).join(" or ") : textOf(fact);
}

/**
 * The rounds as tabs, equal ones as one.
 * @param {Detail} detail
 * @param {Look} look
 */
function answers(detail, look) {
  /** @type {Map<string, Round[]>} */
  const alike = new Map();
  for (const round of detail.rounds) {
    const { output, error, passed, status, scores, reasons, steps } = round;
    const key = JSON.stringify([output, error, passed, status, scores, reasons, steps]);
    alike.set(key, [...(alike.get(key) ?? []), round]);
  }
  const groups = [...alike.values()];
  const panel = element("div", { role: "tabpanel", id: "panel", tabindex: 0 });
  const tabs = groups.map((rounds, at) =>
    element(
      "button",
      { type: "button", role: "tab", id: `tab-${at}`, "aria-controls": "panel", click: () => choose(at) },
      `${rounds.length > 1 ? "Rounds" : "Round"} ${rounds.map(({ round }) => round).join(", ")} `,
      element("span", { class: { true: "ok", false: "bad" }[String(rounds[0].passed)] ?? "none" }, wordOf(rounds[0])),
    ),
  );
  /** @param {number} chosen */
  const choose = (chosen) => {
    tabs.forEach((tab, at) => {
      tab.setAttribute("aria-selected", String(at === chosen));
      tab.tabIndex = at === chosen ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", `tab-${chosen}`);
    panel.replaceChildren(...roundParts(detail, groups[chosen][0], look));
  };
  const list = element("div", { role: "tablist", "aria-label": "Rounds" }, tabs);
  list.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const now = tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
    const next = by && tabs[now + by];
    if (!next) return;
    choose(now + by);
    next.focus();
  });
  choose(Math.max(0, groups.findIndex(([round]) => round.passed === false)));
  return element("div", { class: "answers" }, list, panel);
}

/** @param {Round} round */
const wordOf = (round) =>
  round.passed === null ? round.status.replaceAll("_", " ") : round.passed ? "passed" : "failed";

/**
 * @param {Detail} detail
 * @param {Round} round
 * @param {Look} look
 * @returns {(Node | string)[]}
 */
function roundParts(detail, round, look) {
  const facts = [figure(round.latency_ms, "ms"), round.tokens !== null && `${figure(round.tokens, "tokens")} tokens`, figure(round.cost_usd, "USD")];
  return [
    round.error ? titled("Error", round.error) : "",
    answerParts(detail, round, look),
    element("p", { class: "soft" }, facts.filter(Boolean).join(" · ")),
    ...graderParts(round),
    ...stepParts(detail, round),
    ...scoreParts(detail, round),
  ].filter((part) => part !== "");
}

/**
 * The answer, beside that of the base branch where it is known, with the words that differ marked.
 * @param {Detail} detail
 * @param {Round} round
 * @param {Look} look
 */
function answerParts(detail, round, look) {
  const now = round.output ?? "";
  if (!detail.was) return titled("Answer", now || "(none)");
  const { passed, text } = detail.was;
  const found = look.diff ? diffWords(text, now) : null;
  /** @param {string} title @param {string} whole @param {"was" | "now"} side */
  const column = (title, whole, side) =>
    element(
      "section",
      {},
      element("h4", {}, title),
      element("pre", {}, found ? marked(found, side) : reveal(whole), whole ? "" : "(none)"),
    );
  const verdict = passed === null ? "" : passed ? ", passed" : ", failed";
  return element(
    "div",
    { class: "two" },
    column(`Base branch${verdict}`, text, "was"),
    column(`Now, ${wordOf(round)}`, now, "now"),
  );
}

/**
 * One side of a comparison: what both have, and what only this one has as a mark.
 * @param {import("./words.js").Piece[]} found
 * @param {"was" | "now"} side
 */
function marked(found, side) {
  const name = /** @type {"del" | "ins"} */ (side === "was" ? "del" : "ins");
  return found
    .filter(([kind]) => kind === "same" || kind === side)
    .flatMap(([kind, text]) => (kind === side ? [element(name, {}, reveal(text))] : reveal(text)));
}

/** What the graders said, those first that failed it. @param {Round} round */
function graderParts(round) {
  const names = new Set([...round.failed_by, ...Object.keys(round.reasons), ...Object.keys(round.unscored)]);
  if (!names.size && !round.failures.length) return [];
  const rows = [...names].map((name) => {
    const failed = round.failed_by.includes(name);
    const why = round.reasons[name] ?? round.unscored[name] ?? "";
    const word = name in round.unscored ? "not scored" : failed ? "failed" : "";
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, codeOf(name), " ", element("span", { class: failed ? "bad" : "none" }, word)),
      element("td", {}, reveal(why)),
    );
  });
  return [
    element("h4", {}, "Graders"),
    round.failures.length ? element("p", {}, round.failures.map((code) => codeOf(code))) : "",
    element("table", {}, element("tbody", {}, rows)),
    ...round.logged.map((said) => element("p", {}, reveal(said))),
    ...round.faults.map((said) => element("p", { class: "soft" }, reveal(said))),
  ];
}

/**
 * @param {Detail} detail
 * @param {Round} round
 */
function stepParts(detail, round) {
  const parts = [];
  if (detail.steps.length) {
    const lines = detail.steps.map(([kind, was, now]) => stepLine(kind, was, now));
    const kept = "Of the base branch up to 30 steps are kept, with long arguments cut.";
    parts.push(element("h4", {}, reveal(detail.title)), element("ol", { class: "steps" }, lines));
    parts.push(element("p", { class: "soft" }, kept));
  }
  if (round.retrieved_ids?.length) {
    parts.push(element("p", {}, "Retrieved: ", round.retrieved_ids.map((name) => codeOf(name))));
  }
  if (!round.steps?.length) return parts;
  const steps = round.steps.map((step) =>
    element(
      "li",
      {},
      codeOf(step.name),
      pre(textOf(step.arguments ?? step.raw_arguments)),
      pre(textOf(step.error), "bad"),
      pre(textOf(step.result), "result"),
    ),
  );
  const more = round.more_steps ? element("li", {}, count(round.more_steps, "more step")) : "";
  return [
    ...parts,
    element("details", { class: "trace" }, element("summary", {}, `Trace: ${count(round.steps.length, "step")}`), element("ol", {}, steps, more)),
  ];
}

/**
 * A step beside the one before: which word of which argument differs.
 * @param {string} kind
 * @param {string} was
 * @param {string} now
 */
function stepLine(kind, was, now) {
  if (kind === "changed") {
    return element("li", { class: "changed" }, element("span", { class: "tag" }, "changed"), " ", pieces(was, now));
  }
  const word = { added: "new", removed: "left out" }[kind];
  return element("li", { class: kind }, word ? element("span", { class: "tag" }, word) : "", word ? " " : "", reveal(now || was));
}

/**
 * One text with what is gone and what is new marked in it.
 * @param {string} was
 * @param {string} now
 */
export const pieces = (was, now) =>
  diffWords(was, now).map(([kind, text]) =>
    element(/** @type {"del"} */ ({ same: "span", was: "del", now: "ins" }[kind]), {}, reveal(text)),
  );

/**
 * Beside those of the base branch: first what differs, most first.
 * @param {Detail} detail
 * @param {Round} round
 */
function scoreParts({ means }, round) {
  const scores = Object.entries(round.scores)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => {
      const now = Number(value);
      const was = means[name] ?? null;
      const change = was === null || Math.abs(now - was) < ROUNDING ? 0 : now - was;
      return { name, was, now, change };
    })
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  if (!scores.length) return [];
  const differ = scores.filter(({ change }) => change);
  const alike = scores.slice(differ.length);
  const folded = element(
    "details",
    { open: !differ.length && alike.length <= 12 },
    element("summary", {}, `${count(alike.length, differ.length ? "other score" : "score")}`),
    scoreTable(alike),
  );
  return [differ.length ? scoreTable(differ) : "", alike.length ? folded : ""];
}

/** @param {{name: string, was: number | null, now: number, change: number}[]} scores */
function scoreTable(scores) {
  const compared = scores.some(({ was }) => was !== null);
  /** @param {"td" | "th"} name @param {string[]} texts was, now, change */
  const cells = (name, texts) =>
    texts.slice(compared ? 0 : 1, compared ? 3 : 2).map((text) => element(name, { class: "n" }, text));
  const rows = scores.map(({ name, was, now, change }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, codeOf(name)),
      cells("td", [figure(was, ""), figure(now, ""), change ? `${change > 0 ? "+" : "−"}${figure(Math.abs(change), "share")}` : ""]),
    ),
  );
  const heads = element("tr", {}, element("th", {}, "Score"), cells("th", ["base branch, mean", "now", "change"]));
  return element("table", {}, element("thead", {}, heads), element("tbody", {}, rows));
}

/** @param {string} title @param {string} text */
const titled = (title, text) => element("section", {}, element("h4", {}, title), pre(text));

/** @param {string} text @param {string} kind */
const pre = (text, kind = "") =>
  text ? element("pre", { class: kind, tabindex: text.length > 600 ? 0 : false }, reveal(text)) : "";

/** @param {string} text */
const codeOf = (text) => element("code", {}, reveal(text));

/** @param {any} value */
const textOf = (value) =>
  value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

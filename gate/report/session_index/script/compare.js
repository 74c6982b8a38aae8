import { byId, element } from "../../session_page/script/elements.js";
import { plain } from "../../session_page/script/hidden.js";
import { showAnswers } from "./answers.js";
import { KINDS, openSession, pairCases } from "./pairs.js";
import { enliven, showPicked, sortRows } from "./table.js";

/** @typedef {import("./pairs.js").Opened} Opened */
/** @typedef {import("./pairs.js").Pair} Pair */

const LISTED = 200; // cases at a time
const table = /** @type {HTMLTableElement | null} */ (document.getElementById("sessions"));
const place = byId("pair");
/** @type {Map<string, Promise<Opened>>} */
const opened = new Map();

function readState() {
  const given = new URLSearchParams(location.hash.slice(1));
  const names = [given.get("before"), given.get("after")];
  return {
    sort: given.get("s") ?? "-date",
    kind: given.get("k") ?? "",
    picked: /** @type {string[]} */ (names.filter((name) => name && dateOf(name))),
  };
}

/** @param {Partial<ReturnType<typeof readState>>} change */
function go(change) {
  const { sort, kind, picked } = { ...readState(), ...change };
  const [before, after] = [...picked].sort((a, b) => (dateOf(a) < dateOf(b) ? -1 : 1));
  const told = Object.entries({ s: sort, k: kind, before, after }).filter(([, value]) => value);
  location.hash = String(new URLSearchParams(/** @type {[string, string][]} */ (told)));
}

/** The moment of a listed session with a report; empty for any other. @param {string} folder */
function dateOf(folder) {
  const row = [...(table?.tBodies[0].rows ?? [])].find((one) => one.getAttribute("data-folder") === folder);
  return row?.querySelector("a") ? (row.querySelector("th")?.getAttribute("data-value") ?? "") : "";
}

/** @param {string} folder */
function open(folder) {
  const found = opened.get(folder) ?? openSession(folder);
  opened.set(folder, found);
  return found;
}

/** Closes all but these, so that no more than two sessions are in memory. @param {string[]} kept */
function closeOthers(kept) {
  for (const [folder, session] of opened) {
    if (kept.includes(folder)) continue;
    opened.delete(folder);
    session.then(({ close }) => close(), () => {});
  }
}

async function show() {
  if (!table) return;
  const { sort, kind, picked } = readState();
  sortRows(table, sort);
  showPicked(table, picked);
  closeOthers(picked);
  const [before, after] = picked;
  place.hidden = !after;
  if (!after) return;
  const title = element("h2", {}, `Before: ${dateOf(before).slice(0, 19).replace("T", " ")} · after: ${dateOf(after).slice(0, 19).replace("T", " ")}`);
  place.replaceChildren(title, element("p", { class: "soft" }, "Opening both reports …"));
  const address = location.hash;
  try {
    const [was, now] = await Promise.all([open(before), open(after)]);
    if (location.hash === address) place.replaceChildren(title, ...list(was, now, kind, `gate compare ${before} ${after}`));
  } catch (error) {
    opened.clear();
    if (location.hash === address) place.replaceChildren(title, element("p", { class: "note warn" }, plain(String(error))));
  }
}

/** @param {Opened} was @param {Opened} now @param {string} chosen @param {string} command */
function list(was, now, chosen, command) {
  const pairs = pairCases(was.index, now.index);
  const kinds = Object.entries(KINDS).map(([key, [words, belongs]]) => ({
    key,
    words,
    cases: pairs.filter((pair) => belongs(was.index, now.index, pair)),
  }));
  const { key, cases } = kinds.find((one) => one.key === chosen) ?? kinds.find((one) => one.cases.length) ?? kinds[0];
  const buttons = kinds
    .filter((one) => one.cases.length || !one.words.startsWith("only"))
    .map((one) =>
      element(
        "button",
        { type: "button", "aria-pressed": String(one.key === key), click: () => go({ kind: one.key }) },
        `${one.cases.length.toLocaleString("en-US")} ${one.words}`,
      ),
    );
  const rows = element("div", { class: "cases" });
  const more = element("button", { type: "button", click: () => fill() });
  const fill = () => {
    const done = rows.childElementCount;
    rows.append(...cases.slice(done, done + LISTED).map((pair) => row(was, now, pair)));
    const left = cases.length - rows.childElementCount;
    more.textContent = `${left.toLocaleString("en-US")} more`;
    more.hidden = left <= 0;
  };
  fill();
  const said = element(
    "p",
    { class: "soft" },
    "A case fails if a round of it failed or was not answered. Chance is not taken out here; ",
    element("code", {}, command),
    " in this folder judges the difference.",
  );
  return [said, element("div", { class: "kinds" }, buttons), rows, more];
}

/** @param {Opened} was @param {Opened} now @param {Pair} pair */
function row(was, now, pair) {
  const several = was.index.suites.length > 1 || now.index.suites.length > 1;
  /** @param {Opened} session @param {number | null} at */
  const share = (session, at) => (at === null ? "–" : `${session.index.passed[at]}/${session.index.judged[at]}`);
  const made = element(
    "details",
    {},
    element(
      "summary",
      {},
      element("span", {}, plain(several ? `${pair.suite}: ${pair.id}` : pair.id)),
      element("span", { class: "part" }, `before ${share(was, pair.was)}`),
      element("span", { class: "part" }, `after ${share(now, pair.now)}`),
    ),
  );
  made.addEventListener("toggle", async () => {
    if (!made.open || made.childElementCount > 1) return;
    const body = element("p", { class: "soft" }, "Opening …");
    made.append(body);
    try {
      const details = [pair.was === null ? null : was.open(pair.was), pair.now === null ? null : now.open(pair.now)];
      const [before, after] = await Promise.all(details);
      body.replaceWith(showAnswers(before, after));
    } catch (error) {
      body.textContent = plain(String(error));
    }
  });
  return made;
}

if (table) {
  enliven(table, {
    sort: (key) => go({ sort: readState().sort === key ? `-${key}` : key }),
    pick: (folder, picked) => {
      const others = readState().picked.filter((one) => one !== folder);
      go({ picked: picked ? [...others.slice(-1), folder] : others });
    },
  });
  byId("how").hidden = false;
  addEventListener("hashchange", show);
  show();
}

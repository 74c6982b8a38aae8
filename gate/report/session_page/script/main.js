import { openBlock } from "./blocks.js";
import { showCase } from "./case.js";
import { isChosen, keyOf, STATES, sortCases } from "./cases.js";
import { byId, element } from "./elements.js";
import { count } from "./figures.js";
import { plain } from "./hidden.js";
import { CaseList } from "./list.js";
import { headText, searchTexts, splitQuery } from "./search.js";

/** @typedef {import("./blocks.js").Index} Index */
/** @typedef {import("./cases.js").View} View */

/** @type {View} */
const NOTHING = { f: "", suite: "", category: "", mode: "", grader: "", q: "", s: "", case: "" };
const PAUSE = 120; // ms without a key before texts are searched
const SHOWN_EVERY = 250; // ms of a search: to sort and draw the list takes longer than to read a block

/** @returns {View} */
function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const names = /** @type {(keyof View)[]} */ (Object.keys(NOTHING));
  const view = { ...NOTHING };
  for (const name of names) view[name] = given.get(name) ?? "";
  return view;
}

/** @param {View} view */
function addressOf(view) {
  const told = new URLSearchParams(Object.entries(view).filter(([, value]) => value));
  return `#${told}`;
}

/** @param {Index} index */
function start(index) {
  const every = index.id.map((_, at) => at);
  // A case without its suite means the first one that has the id.
  const places = new Map([...every].reverse().map((at) => [plain(index.id[at]), at]));
  for (const at of every) places.set(keyOf(index, at), at);
  let view = readAddress();
  let search = 0; // counts searches: an older one ends
  const look = { diff: true };

  const find = element("input", {
    type: "search",
    autocomplete: "off",
    placeholder: "case, question, answer",
    input: () => go({ q: find.value }, true),
  });
  /** @type {Partial<Record<keyof View, HTMLSelectElement>>} */
  const selects = {
    f: choice("f", "All cases", Object.entries(STATES).map(([key, [words]]) => [key, words])),
    mode: choice("mode", "Any mode", named(index.modes)),
    category: choice("category", "Any category", named(index.categories)),
    grader: choice("grader", "Any grader", named(index.graders)),
    suite: choice("suite", "All suites", named(index.suites)),
  };
  const told = element("output", { "aria-live": "polite" });
  const list = new CaseList(index, {
    sort: (key) => go({ s: nextSort(key) }, true),
    address: (at) => addressOf({ ...view, case: keyOf(index, at) }),
  });
  const opened = element("article", { class: "opened", hidden: true });
  const listed = element(
    "div",
    {},
    element(
      "form",
      { class: "filter", role: "search", submit: (/** @type {Event} */ event) => event.preventDefault() },
      element("label", {}, "Find ", find),
      Object.entries(selects).map(([key, select]) =>
        select.options.length > (key === "suite" || key === "category" ? 2 : 1) ? select : null,
      ),
      element("button", { type: "button", click: () => help.showModal() }, "Keys"),
      told,
    ),
    list.frame,
  );
  const help = helpDialog();
  byId("app").append(listed, opened, help);
  byId("app").hidden = false;
  document.documentElement.classList.add("scripted");

  /** @param {keyof View} key @param {string} all @param {[string, string][]} options */
  function choice(key, all, options) {
    const select = element(
      "select",
      { "aria-label": all, change: () => go({ [key]: select.value }, true) },
      element("option", { value: "" }, all),
      options.map(([value, words]) => element("option", { value }, words)),
    );
    return select;
  }

  /** @param {string} key */
  function nextSort(key) {
    if (view.s === key) return `-${key}`;
    return view.s === `-${key}` ? "" : key;
  }

  /** @param {Partial<View>} change @param {boolean} [quietly] without an entry in the browser's history */
  function go(change, quietly = false) {
    view = { ...view, ...change };
    history[quietly ? "replaceState" : "pushState"](null, "", addressOf(view));
    show();
  }

  function show() {
    const at = places.get(view.case);
    listed.hidden = at !== undefined;
    opened.hidden = at === undefined;
    if (document.activeElement !== find) find.value = view.q;
    for (const [key, select] of Object.entries(selects)) {
      select.value = view[/** @type {keyof View} */ (key)];
    }
    showList();
    if (at !== undefined) void open(at);
  }

  function showList() {
    const chosen = every.filter((at) => isChosen(index, view, at));
    const words = splitQuery(view.q);
    const found = words.length
      ? new Set(chosen.filter((at) => words.every((word) => headText(index, at).includes(word))))
      : new Set(chosen);
    const sorted = () => sortCases(index, [...found], view.s);
    const state = (/** @type {string} */ more) => {
      told.textContent = `${found.size.toLocaleString("en-US")} of ${count(every.length, "case")}${more}`;
    };
    list.show(sorted(), view.s);
    state("");
    const mine = ++search;
    const rest = chosen.filter((at) => !found.has(at));
    if (!words.length || !rest.length) return;
    let due = 0;
    setTimeout(() => {
      if (mine !== search) return;
      void searchTexts(index, words, rest, (more, done, all) => {
        if (mine !== search) return false;
        for (const at of more) found.add(at);
        if (done < all && performance.now() < due) return true;
        state(done < all ? `, ${Math.round((100 * done) / all)} % of the texts searched` : "");
        list.show(sorted(), view.s);
        due = performance.now() + SHOWN_EVERY;
        return true;
      });
    }, PAUSE);
  }

  /** @param {number} at */
  async function open(at) {
    const place = list.cases.indexOf(at);
    const parts = await showCase(index, at, look);
    if (places.get(view.case) !== at) return;
    opened.replaceChildren(
      element(
        "nav",
        { "aria-label": "Case" },
        element("a", { href: addressOf({ ...view, case: "" }) }, "← All cases"),
        step("Previous (k)", place - 1),
        step("Next (j)", place + 1),
        place >= 0 ? element("span", { class: "soft" }, `${place + 1} of ${list.cases.length}`) : "",
      ),
      ...parts.filter((part) => part !== null && part !== false),
    );
    byId("app").scrollIntoView();
    opened.querySelector("h3")?.focus({ preventScroll: true });
  }

  /** @param {string} words @param {number} place */
  function step(words, place) {
    const at = list.cases[place];
    return at === undefined
      ? element("span", { class: "soft" }, words)
      : element("a", { href: addressOf({ ...view, case: keyOf(index, at) }) }, words);
  }

  /** @param {number} by */
  function move(by) {
    const at = places.get(view.case);
    if (at === undefined) return list.move(by);
    const place = list.cases.indexOf(at) + by;
    if (list.cases[place] === undefined) return;
    list.cursor = place;
    go({ case: keyOf(index, list.cases[place]) }, true);
  }

  /** @type {Record<string, () => void>} */
  const keys = {
    j: () => move(1),
    k: () => move(-1),
    "/": () => {
      if (view.case) go({ case: "" });
      find.focus();
    },
    "?": () => help.showModal(),
    d: () => {
      look.diff = !look.diff;
      show();
    },
    Enter: () => {
      const at = list.cases[list.cursor];
      if (!view.case && at !== undefined) go({ case: keyOf(index, at) });
    },
    Escape: () => {
      if (view.case) go({ case: "" });
    },
  };
  addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (target === find && (event.key === "Escape" || event.key === "Enter")) {
      list.frame.focus();
      if (list.cursor < 0) list.move(1);
      event.preventDefault();
      return;
    }
    if (target.matches("input, select, textarea")) return;
    if (event.key === "Enter" && target.matches("a, button, summary")) return;
    const does = keys[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
  addEventListener("hashchange", () => {
    view = readAddress();
    show();
  });
  addEventListener("popstate", () => {
    view = readAddress();
    show();
  });
  show();
}

/** @param {string[]} names @returns {[string, string][]} */
const named = (names) => names.filter(Boolean).map((name) => [name, plain(name)]);

function helpDialog() {
  const keys = [
    ["j, k", "the next case, the one before"],
    ["Enter", "opens the case"],
    ["Esc", "back to the list"],
    ["/", "search in ids, questions, expected answers and answers"],
    ["d", "marks the words that differ, or not"],
    ["?", "this list"],
  ];
  const dialog = element(
    "dialog",
    { "aria-label": "Keys" },
    element("dl", {}, keys.flatMap(([key, what]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, what)])),
    element("button", { type: "button", click: () => dialog.close() }, "Close"),
  );
  return dialog;
}

addEventListener("beforeprint", () => {
  for (const one of [...document.querySelectorAll("#worst details")].slice(0, 10)) {
    one.setAttribute("open", "");
  }
});
if (document.getElementById("index")) {
  openBlock("index").then((text) => JSON.parse(text)).then(start, (error) => {
    const text = `The list of all cases cannot be opened in this browser (${error.message}); the worst ones are below.`;
    byId("worst").prepend(element("p", { class: "note" }, text));
  });
}

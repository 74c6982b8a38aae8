import { keyOf, stateOf } from "./cases.js";
import { element } from "./elements.js";
import { figure, share } from "./figures.js";
import { plain } from "./hidden.js";

/** @typedef {import("./blocks.js").Index} Index */
/** @typedef {{key: string, title: string, number: boolean, cell: (at: number) => Node | string}} Column */

const MORE = 8; // rows above and below those in sight
const TONES = {
  bad: ["newly failing", "always failing", "not answered", "errored"],
  ok: ["fixed", "passing"],
};

/** @param {string} state */
export const toneOf = (state) =>
  Object.entries(TONES).find(([, states]) => states.includes(state))?.[0] ?? "none";

/**
 * @param {Index} index
 * @param {(at: number) => string} address of a case
 * @returns {Column[]}
 */
function columns(index, address) {
  /** @param {string} key @param {string} title @param {(at: number) => Node | string} cell */
  const text = (key, title, cell) => ({ key, title, number: false, cell });
  /** @param {string} key @param {string} title @param {(at: number) => Node | string} cell */
  const amount = (key, title, cell) => ({ key, title, number: true, cell });
  return [
    text("case", "Case", (at) => element("a", { href: address(at) }, plain(index.id[at]))),
    text("state", "State", (at) => {
      const state = stateOf(index, at);
      return element("span", { class: toneOf(state) }, state);
    }),
    amount("was", "main", (at) => share(index.was_passed[at], index.was_rounds[at])),
    amount("now", "now", (at) => share(index.passed[at], index.judged[at])),
    ...(index.suites.length > 1
      ? [text("suite", "Suite", (at) => plain(index.suites[index.suite[at]]))]
      : []),
    text("category", "Category", (at) => plain(index.categories[index.category[at]])),
    text("why", "Why", (at) =>
      plain([index.modes[index.mode[at]], index.codes[at]].filter(Boolean).join(": ")),
    ),
    amount("latency", "Latency", (at) => figure(index.latency[at], "ms")),
    amount("tokens", "Tokens", (at) => figure(index.tokens[at], "tokens")),
    amount("cost", "Cost", (at) => figure(index.cost[at], "USD")),
    ...index.scores.map(({ name, unit }, which) =>
      amount(name, name.slice(name.indexOf(".") + 1), (at) => figure(index.values[which][at], unit)),
    ),
  ];
}

/** Pixels; more on a very wide screen. */
const rowHeight = () =>
  Number.parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"), 10);

/** A table of which only the rows in sight are in the page. */
export class CaseList {
  /**
   * @param {Index} index
   * @param {{sort: (key: string) => void, address: (at: number) => string}} does
   */
  constructor(index, does) {
    this.index = index;
    this.columns = columns(index, does.address);
    /** @type {number[]} */
    this.cases = [];
    this.cursor = -1;
    this.drawn = "";
    this.body = element("tbody");
    this.heads = this.columns.map((column) =>
      element(
        "th",
        { scope: "col", class: `${column.number ? "n " : ""}col-${column.key.replace(/\W/g, "-")}` },
        element("button", { type: "button", click: () => does.sort(column.key) }, plain(column.title)),
      ),
    );
    this.table = element("table", {}, element("thead", {}, element("tr", {}, this.heads)), this.body);
    this.frame = element(
      "div",
      { class: "frame", tabindex: 0, role: "region", "aria-label": "Cases", scroll: () => this.draw() },
      this.table,
    );
    new ResizeObserver(() => this.draw()).observe(this.frame);
  }

  /** @param {number[]} cases @param {string} sort */
  show(cases, sort) {
    this.cases = cases;
    this.cursor = Math.min(this.cursor, cases.length - 1);
    this.table.setAttribute("aria-rowcount", String(cases.length + 1));
    const key = sort.replace(/^-/, "");
    this.heads.forEach((head, at) => {
      if (this.columns[at].key !== key) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", sort.startsWith("-") ? "descending" : "ascending");
    });
    this.draw(true);
  }

  /** Only where other rows are in sight than are drawn, unless `anew`. */
  draw(anew = false) {
    const { scrollTop, clientHeight } = this.frame;
    const height = rowHeight();
    const first = Math.max(0, Math.floor(scrollTop / height) - MORE);
    const end = Math.ceil((scrollTop + (clientHeight || 600)) / height) + MORE;
    const last = Math.min(this.cases.length, end);
    const drawn = `${first} ${last}`;
    if (!anew && drawn === this.drawn) return;
    this.drawn = drawn;
    const rows = this.cases.slice(first, last).map((at, place) => this.#row(at, first + place));
    this.body.replaceChildren(space(first), ...rows, space(this.cases.length - last));
  }

  /** @param {number} at @param {number} place */
  #row(at, place) {
    const current = place === this.cursor;
    return element(
      "tr",
      { "aria-rowindex": place + 2, "data-key": keyOf(this.index, at), ...(current ? { "aria-current": "true" } : {}) },
      this.columns.map((column, which) => {
        const cell = column.cell(at);
        return element(
          which ? "td" : "th",
          {
            ...(which ? {} : { scope: "row" }),
            class: `${column.number ? "n " : ""}col-${column.key.replace(/\W/g, "-")}`,
            ...(column.key === "why" && typeof cell === "string" ? { title: cell } : {}),
          },
          cell,
        );
      }),
    );
  }

  /** @param {number} by */
  move(by) {
    this.point(Math.max(0, Math.min(this.cases.length - 1, this.cursor + by)));
  }

  /** Puts the cursor at this place of the list, in sight. @param {number} place */
  point(place) {
    this.cursor = place;
    const row = rowHeight();
    const [top, height] = [place * row, this.frame.clientHeight - 2 * row];
    if (top < this.frame.scrollTop) this.frame.scrollTop = top;
    else if (top > this.frame.scrollTop + height) this.frame.scrollTop = top - height;
    this.draw(true);
  }
}

/** @param {number} rows */
function space(rows) {
  const made = element("tr", { class: "space", "aria-hidden": "true" });
  made.style.height = `${rows * rowHeight()}px`;
  return made;
}

import { element } from "../../session_page/script/elements.js";

/** @param {Element | undefined} cell */
function sortValueOf(cell) {
  const text = cell?.getAttribute("data-value") ?? cell?.textContent?.trim() ?? "";
  return cell?.classList.contains("n") ? (text === "" ? null : Number(text)) : text;
}

/**
 * Sorts the rows by a column: key, after `-` from the largest. What has no value comes last.
 * @param {HTMLTableElement} table
 * @param {string} sort
 */
export function sortRows(table, sort) {
  const [sign, key] = sort.startsWith("-") ? [-1, sort.slice(1)] : [1, sort];
  const heads = [...table.querySelectorAll("thead tr > *")];
  const column = heads.findIndex((head) => head.getAttribute("data-key") === key);
  if (column < 0) return;
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[column].setAttribute("aria-sort", sign < 0 ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => /** @type {const} */ ([sortValueOf(row.cells[column]), row]));
  rows.sort(([a], [b]) => {
    if (a === b) return 0;
    if (a === null || b === null) return a === null ? 1 : -1;
    return a < b ? -sign : sign;
  });
  body.append(...rows.map(([, row]) => row));
}

/**
 * Makes each head a button that sorts, and gives each row a box to tick.
 * @param {HTMLTableElement} table
 * @param {{sort: (key: string) => void, pick: (folder: string, picked: boolean) => void}} does
 */
export function enliven(table, does) {
  for (const head of table.querySelectorAll("thead th")) {
    const key = head.getAttribute("data-key") ?? "";
    const title = head.textContent ?? "";
    head.replaceChildren(element("button", { type: "button", click: () => does.sort(key) }, title));
  }
  for (const row of table.tBodies[0].rows) {
    const folder = row.getAttribute("data-folder") ?? "";
    const date = row.querySelector("th")?.textContent ?? "";
    const box = element("input", {
      type: "checkbox",
      "aria-label": `Compare the session of ${date}`,
      change: () => does.pick(folder, box.checked),
    });
    if (row.querySelector("a")) row.cells[0].append(box);
  }
  for (const cell of table.querySelectorAll(".pick")) /** @type {HTMLElement} */ (cell).hidden = false;
}

/**
 * Ticks these two, and no others.
 * @param {HTMLTableElement} table
 * @param {string[]} folders
 */
export function showPicked(table, folders) {
  for (const row of table.tBodies[0].rows) {
    const picked = folders.includes(row.getAttribute("data-folder") ?? "");
    row.classList.toggle("picked", picked);
    const box = row.querySelector("input");
    if (box) box.checked = picked;
  }
}

import { byId } from "../../session_page/script/elements.js";

const KEY = "metric";

/** Shows the chart of one metric in each suite, or those that lead; the address says which. */
function showChosen() {
  const chosen = new URLSearchParams(location.hash.slice(1)).get(KEY) ?? "";
  const select = /** @type {HTMLSelectElement} */ (byId("metric"));
  select.value = chosen;
  const known = select.value === chosen ? chosen : "";
  select.value = known;
  for (const figure of document.querySelectorAll("figure.metric")) {
    /** @type {HTMLElement} */ (figure).hidden = known !== "" && figure.getAttribute("data-metric") !== known;
  }
  for (const more of document.querySelectorAll("details.others")) {
    const wanted = [...more.querySelectorAll("figure.metric")].some((figure) => !(/** @type {HTMLElement} */ (figure).hidden));
    /** @type {HTMLDetailsElement} */ (more).open = known !== "" && wanted;
    /** @type {HTMLElement} */ (more).hidden = !wanted;
  }
}

const choice = byId("metric");
choice.addEventListener("change", () => {
  const value = /** @type {HTMLSelectElement} */ (choice).value;
  location.hash = value ? String(new URLSearchParams({ [KEY]: value })) : "";
});
addEventListener("hashchange", showChosen);
byId("choose").hidden = false;
showChosen();

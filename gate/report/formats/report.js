"use strict";
(() => {
  const cases = [...document.querySelectorAll("#cases > .case")];
  const form = document.getElementById("filter");
  const find = document.getElementById("find");
  const state = document.getElementById("state");
  const found = document.getElementById("found");
  const words = cases.map((item) => (item.querySelector("summary") || item).textContent.toLowerCase());
  const apply = () => {
    const wanted = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    cases.forEach((item, index) => {
      const fits = (!state.value || item.dataset.state.split(" ").includes(state.value))
        && wanted.every((word) => words[index].includes(word));
      item.hidden = !fits;
      shown += fits ? 1 : 0;
    });
    found.textContent = shown === cases.length ? "" : `${shown} of ${cases.length}`;
  };
  form.hidden = cases.length < 2;
  form.addEventListener("submit", (event) => event.preventDefault());
  find.addEventListener("input", apply);
  state.addEventListener("change", apply);
  apply();
})();

"use strict";
(() => {
  const page = document.body.dataset;
  const cards = [...document.querySelectorAll("article")];
  const links = [...document.querySelectorAll("header nav a")];
  const name = document.getElementById("name");
  const told = document.getElementById("told");
  const save = document.getElementById("save");
  const place = `agent-gate-review:${page.period}:${page.suite}:${page.sample}`;
  let state = { name: "", at: 0, cases: {} };
  let kept = true; // this browser keeps what is filled in
  let changed = false; // since it was last saved as a file
  let now = 0;

  const say = (text, warns = false) => {
    told.textContent = text;
    told.classList.toggle("warn", warns);
  };
  const keep = () => {
    state.name = name.value;
    state.at = now;
    try {
      localStorage.setItem(place, JSON.stringify(state));
    } catch {
      if (kept) say("This browser keeps nothing for this page: save your labels before you close it.", true);
      kept = false;
    }
  };
  const recall = () => {
    try {
      const found = JSON.parse(localStorage.getItem(place) || "null");
      if (found && typeof found.cases === "object" && found.cases) state = { name: "", at: 0, ...found };
    } catch {
      // Unreadable, or not to be had: the first `keep` tells which.
    }
  };
  const fields = (card) => [...card.querySelectorAll("fieldset")];
  const number = (field) => field.querySelector("input[type=number]");
  const chosen = (field) => {
    const input = number(field) || field.querySelector("input:checked");
    return input && input.value !== "" && input.validity.valid ? input : null;
  };
  const skipped = (card) => card.querySelector("[data-skip]");
  const note = (card) => card.querySelector("[data-note]");
  const rated = (card) => fields(card).filter(chosen).length;
  const isDone = (card) => skipped(card).checked || rated(card) === fields(card).length;

  const explain = (field) => {
    const input = chosen(field);
    const means = input && field.querySelector(`dd[data-value="${input.value}"]`);
    const line = field.querySelector(".meaning");
    const ends = field.querySelector(".ends");
    if (!line || !ends) return;
    line.textContent = means ? `${input.value}: ${means.textContent}` : "";
    line.hidden = !means;
    ends.hidden = Boolean(means);
  };
  const show = () => {
    let done = 0;
    cards.forEach((card, index) => {
      const whole = isDone(card);
      done += whole ? 1 : 0;
      links[index].classList.toggle("done", whole);
      links[index].classList.toggle("begun", !whole && rated(card) > 0);
      if (index === now) links[index].setAttribute("aria-current", "step");
      else links[index].removeAttribute("aria-current");
      card.hidden = index !== now;
      fields(card).forEach(explain);
      card.classList.toggle("skipped", skipped(card).checked);
      card.querySelector('[data-go="-1"]').disabled = index === 0;
      card.querySelector('[data-go="1"]').disabled = index === cards.length - 1;
    });
    document.getElementById("progress").value = done;
    document.getElementById("done").textContent = `${done} of ${cards.length}`;
    save.classList.toggle("ready", done === cards.length);
    return done;
  };
  const remember = (card) => {
    const ratings = {};
    fields(card).forEach((field) => {
      const input = chosen(field);
      if (input) ratings[field.dataset.name] = Number(input.value);
    });
    state.cases[card.dataset.item] = {
      ratings, cannot_judge: skipped(card).checked, note: note(card).value, at: new Date().toISOString(),
    };
    changed = true;
    keep();
    if (show() === cards.length) say("All cases are done. Save your labels.");
    else if (kept) say("");
  };
  const fill = () => {
    name.value = state.name || "";
    cards.forEach((card) => {
      const found = state.cases[card.dataset.item];
      if (!found) return;
      fields(card).forEach((field) => {
        const value = String((found.ratings || {})[field.dataset.name] ?? "");
        if (number(field)) number(field).value = value;
        else [...field.querySelectorAll("input")].forEach((input) => { input.checked = input.value === value; });
      });
      skipped(card).checked = found.cannot_judge === true;
      note(card).value = String(found.note || "");
    });
  };
  const activate = (field) => {
    fields(cards[now]).forEach((other) => other.classList.toggle("active", other === field));
    field.scrollIntoView({ block: "nearest" });
  };
  const active = () => cards[now].querySelector("fieldset.active") || fields(cards[now])[0];
  const go = (index) => {
    if (index < 0 || index >= cards.length) return;
    now = index;
    show();
    activate(fields(cards[now]).find((field) => !chosen(field)) || fields(cards[now])[0]);
    window.scrollTo(0, 0);
    keep();
  };
  const step = (by) => {
    const all = fields(cards[now]);
    const next = all[all.indexOf(active()) + by];
    if (next) activate(next);
  };
  const rate = (digit) => {
    const field = active();
    if (number(field)) {
      number(field).focus();
      return;
    }
    const input = field.querySelector(`input[value="${digit}"]`);
    if (!input) return;
    input.checked = true;
    remember(cards[now]);
    step(1);
  };
  const label = (card) => {
    const found = state.cases[card.dataset.item];
    return {
      item: Number(card.dataset.item),
      case_id: card.dataset.case,
      round: Number(card.dataset.round),
      answer_digest: card.dataset.answer,
      ratings: found.ratings,
      cannot_judge: found.cannot_judge,
      note: found.note,
      labelled_at: found.at,
    };
  };
  const download = () => {
    const who = name.value.trim();
    if (!who) {
      say("Enter your name first: each label says whose it is.", true);
      name.focus();
      return;
    }
    const labels = cards.filter((card) => state.cases[card.dataset.item]).map(label);
    const data = {
      form: "agent-gate review labels", version: 1,
      period: page.period, suite: page.suite, sample: page.sample, reviewer: who, labels,
    };
    const file = new Blob([JSON.stringify(data, null, 1) + "\n"], { type: "application/json" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = `labels-${page.period}-${who.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "reviewer"}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    changed = false;
    const done = show();
    say(done === cards.length
      ? `Saved as ${link.download}. Thank you.`
      : `Saved as ${link.download}: ${done} of ${cards.length} cases. Go on whenever you like and save again.`);
  };

  cards.forEach((card) => {
    card.addEventListener("change", () => remember(card));
    note(card).addEventListener("input", () => remember(card));
    fields(card).forEach((field) => {
      field.addEventListener("focusin", () => activate(field));
      field.addEventListener("click", () => activate(field));
    });
    card.querySelectorAll("[data-go]").forEach((button) => {
      button.addEventListener("click", () => go(now + Number(button.dataset.go)));
    });
    card.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  });
  links.forEach((link, index) => link.addEventListener("click", (event) => {
    event.preventDefault();
    go(index);
  }));
  name.addEventListener("input", () => { changed = true; keep(); });
  save.addEventListener("click", download);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const writes = event.target.matches("textarea, input[type=text], input[type=number]");
    if (writes) {
      if (event.key === "Escape" || (event.key === "Enter" && event.target === name)) event.target.blur();
      return;
    }
    const presses = event.target.matches("button, a, summary");
    const keys = {
      ArrowLeft: () => go(now - 1), ArrowRight: () => go(now + 1),
      ArrowUp: () => step(-1), ArrowDown: () => step(1),
      x: () => { skipped(cards[now]).click(); }, n: () => note(cards[now]).focus(),
    };
    if (!presses) keys.Enter = () => go(now + 1);
    const does = /^[0-9]$/.test(event.key) ? () => rate(event.key) : keys[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
  window.addEventListener("beforeunload", (event) => { if (changed && !kept) event.preventDefault(); });

  document.body.classList.add("live");
  recall();
  fill();
  go(Math.min(Math.max(Number(state.at) || 0, 0), cards.length - 1));
  if (kept && !name.value) name.focus();
  if (kept && Object.keys(state.cases).length) say("Welcome back: what you filled in is still here.");
})();

import { element } from "../../session_page/script/elements.js";

const PATIENCE = 15_000; // ms

/** @typedef {import("../../session_page/script/blocks.js").Index} Index */
/** @typedef {import("../../session_page/script/blocks.js").Detail} Detail */
/** @typedef {{index: Index, open: (at: number) => Promise<Detail | null>, close: () => void}} Opened one session */
/** @typedef {{key: string, suite: string, id: string, was: number | null, now: number | null}} Pair places of a case in both sessions */

/**
 * Opens the report of a session in a hidden frame of its own, which cannot reach this page, and asks
 * it for its cases. Fails if the report does not answer.
 * @param {string} folder
 * @returns {Promise<Opened>}
 */
export function openSession(folder) {
  const frame = element("iframe", { sandbox: "allow-scripts", title: `cases of ${folder}`, "aria-hidden": "true" });
  const { port1, port2 } = new MessageChannel();
  /** @type {Map<number, {take: (value: any) => void, fail: (error: Error) => void}>} */
  const waiting = new Map();
  let last = 0;
  /** @param {number | null} at @returns {Promise<any>} */
  const ask = (at) =>
    new Promise((take, fail) => {
      last += 1;
      waiting.set(last, { take, fail });
      port1.postMessage({ id: last, at });
    });
  port1.onmessage = ({ data }) => {
    const who = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) who?.fail(new Error(data.error));
    else who?.take(data.value);
  };
  const close = () => {
    port1.close();
    frame.remove();
  };
  const unknown = new Error(`${folder}/report.html does not answer as it should; write it again with \`gate report ${folder}\``);
  return new Promise((take, fail) => {
    const late = setTimeout(() => {
      close();
      fail(unknown);
    }, PATIENCE);
    frame.addEventListener("load", async () => {
      frame.contentWindow?.postMessage("cases", "*", [port2]);
      try {
        const index = await ask(null);
        if (!Array.isArray(index?.id)) throw unknown;
        take({ index, open: ask, close });
      } catch (error) {
        close();
        fail(error);
      }
      clearTimeout(late);
    }, { once: true });
    frame.src = `${folder}/report.html`;
    document.body.append(frame);
  });
}

/** @param {Index} index @param {number} at */
export const fails = (index, at) => index.passed[at] < index.judged[at] || index.unanswered[at] > 0;

/** @type {Record<string, [string, (was: Index, now: Index, pair: Pair) => boolean]>} key -> words, and which pairs */
export const KINDS = {
  regressed: ["regressed", (was, now, { was: a, now: b }) => a !== null && b !== null && !fails(was, a) && fails(now, b)],
  fixed: ["fixed", (was, now, { was: a, now: b }) => a !== null && b !== null && fails(was, a) && !fails(now, b)],
  failing: ["still failing", (was, now, { was: a, now: b }) => a !== null && b !== null && fails(was, a) && fails(now, b)],
  unchanged: ["unchanged", (was, now, { was: a, now: b }) => a !== null && b !== null && !fails(was, a) && !fails(now, b)],
  before: ["only before", (_was, _now, pair) => pair.now === null],
  after: ["only after", (_was, _now, pair) => pair.was === null],
};

/**
 * Every case of either session once, by suite and id.
 * @param {Index} was
 * @param {Index} now
 */
export function pairCases(was, now) {
  /** @type {Map<string, Pair>} */
  const pairs = new Map();
  for (const [index, side] of /** @type {[Index, "was" | "now"][]} */ ([[was, "was"], [now, "now"]])) {
    index.id.forEach((id, at) => {
      const suite = index.suites[index.suite[at]];
      const key = JSON.stringify([suite, id]);
      const pair = pairs.get(key) ?? { key, suite, id, was: null, now: null };
      pair[side] = at;
      pairs.set(key, pair);
    });
  }
  return [...pairs.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

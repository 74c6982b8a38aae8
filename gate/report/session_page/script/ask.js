import { openBlock, openCase } from "./blocks.js";

/** @typedef {{id: number, at: number | null}} Question `at`: the place of a case; null: the index */

/**
 * Answers the list of sessions that shows this page in a hidden frame: with data, over a channel of
 * its own. From a disk any page may be the one around, elsewhere only one of the same server.
 * @param {MessageEvent} event
 */
function answerList(event) {
  const known = location.protocol === "file:" || event.origin === location.origin;
  const [port] = event.ports;
  if (!known || parent === window || event.source !== parent || !port) return;
  const index = openBlock("index").then((text) => JSON.parse(text));
  port.onmessage = async (/** @type {MessageEvent<Question>} */ { data }) => {
    try {
      const value = data.at === null ? await index : await openCase(await index, data.at);
      port.postMessage({ id: data.id, value });
    } catch (error) {
      port.postMessage({ id: data.id, error: String(error) });
    }
  };
}

addEventListener("message", answerList);

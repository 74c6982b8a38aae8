/**
 * @typedef {object} Index columns of all cases; a position in `suites`, `categories`, `kinds`, `modes` or `graders` stands for the text there
 * @property {string[]} suites
 * @property {string[]} categories
 * @property {string[]} kinds
 * @property {string[]} modes
 * @property {string[]} graders
 * @property {{name: string, unit: string}[]} scores
 * @property {string} command that asks a case again, without the case; empty: nobody can be asked
 * @property {string[]} id
 * @property {number[]} suite
 * @property {number[]} category
 * @property {number[]} kind
 * @property {number[]} mode
 * @property {number[][]} failed_by graders that said no
 * @property {string[]} codes
 * @property {number[]} passed
 * @property {number[]} judged
 * @property {number[]} unanswered
 * @property {(number | null)[]} was_passed
 * @property {(number | null)[]} was_rounds
 * @property {(number | null)[]} latency ms
 * @property {(number | null)[]} cost USD
 * @property {(number | null)[]} tokens
 * @property {(number | null)[][]} values a list for each of `scores`
 * @property {[number, number][][]} places block, and place in it; none where it was left out
 * @property {number[]} rank the cases to look at first have the lowest
 */
/**
 * @typedef {object} Step
 * @property {string} name
 * @property {any} [arguments]
 * @property {string | null} [raw_arguments]
 * @property {any} [result]
 * @property {string | null} [error]
 */
/**
 * @typedef {object} Round one trial
 * @property {number} round
 * @property {string} status
 * @property {boolean | null} passed
 * @property {string | null} output
 * @property {string | null} error
 * @property {string[]} failures
 * @property {string[]} failed_by
 * @property {Record<string, number | null>} scores
 * @property {Record<string, string>} reasons
 * @property {Record<string, string>} unscored
 * @property {string[] | null} retrieved_ids
 * @property {number | null} latency_ms
 * @property {number | null} cost_usd
 * @property {number | null} tokens
 * @property {Step[] | null} steps
 * @property {number} more_steps
 * @property {string[]} faults
 * @property {string[]} logged
 */
/**
 * @typedef {object} Texts of a case, which a search looks through
 * @property {string} question
 * @property {Record<string, any>} expected by key of the dataset
 * @property {{passed: boolean | null, text: string} | null} was what the base branch answered
 * @property {[string | null, string | null][]} answers output and error of each round
 */
/**
 * @typedef {object} Facts of a case
 * @property {[number, number][]} history passed and rounds, run by run
 * @property {string} title of `steps`
 * @property {["same" | "added" | "removed" | "changed", string, string][]} steps kind, before, now
 * @property {string[]} worse metrics that it made worse
 * @property {Record<string, number>} means scores of the base branch, over its rounds
 * @property {Round[]} rounds
 */
/** @typedef {Texts & Facts} Detail one case */

const KEPT = 4; // blocks that stay open
const LEFT = 2_000_000; // bytes of blocks that are read without a pause
const ASKED_FOR = 32_000_000; // bytes
const SIX_BITS = new Uint8Array(128); // of each sign of base64
for (const [value, sign] of [
  ..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
].entries()) {
  SIX_BITS[sign.charCodeAt(0)] = value;
}
/** Of a case, and of a round, where a block says nothing. */
const EMPTY_CASE = { history: [], title: "", steps: [], worse: [], means: {} };
const EMPTY_ROUND = {
  ...{ passed: null, latency_ms: null, cost_usd: null, tokens: null, more_steps: 0 },
  ...{ failures: [], failed_by: [], retrieved_ids: [], steps: [], faults: [], logged: [] },
  ...{ scores: {}, reasons: {}, unscored: {} },
};
/** @type {Map<number, Promise<Detail[]>>} */
const opened = new Map();

/** Reads compressed blocks of the page, each into the same bytes: a search leaves little behind. */
export class BlockReader {
  #packed = new Uint8Array(0);
  #bytes = new Uint8Array(0);
  #left = 0;

  /**
   * What the block holds, until the next one is read.
   * @param {string} id
   */
  async read(id) {
    const base64 = document.getElementById(id)?.textContent ?? "";
    this.#packed = withRoom(this.#packed, base64.length);
    const stream = new DecompressionStream("gzip");
    const writer = stream.writable.getWriter();
    // What is broken is told by the side that is read.
    writer.write(this.#packed.subarray(0, decodeBase64(base64, this.#packed))).catch(() => {});
    writer.close().catch(() => {});
    let length = 0;
    const reader = stream.readable.getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      this.#bytes = withRoom(this.#bytes, length + read.value.length);
      this.#bytes.set(read.value, length);
      length += read.value.length;
    }
    this.#left += length;
    if (this.#left > LEFT) await this.#pause();
    return this.#bytes.subarray(0, length);
  }

  /**
   * Lets the page answer, and the browser collect what streams gave: it looks for that late, but
   * when it is asked for much. Nothing is written there, so it takes no memory.
   */
  async #pause() {
    this.#left = 0;
    void new ArrayBuffer(ASKED_FOR);
    await new Promise((go) => setTimeout(go));
  }
}

/**
 * The same bytes, or longer ones that begin with them.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {number} length
 */
function withRoom(bytes, length) {
  if (length <= bytes.length) return bytes;
  const longer = new Uint8Array(2 * length);
  longer.set(bytes);
  return longer;
}

/**
 * Decodes into `bytes`, without the string between them that `atob` makes; how many they are.
 * @param {string} text
 * @param {Uint8Array} bytes
 */
function decodeBase64(text, bytes) {
  let length = 0;
  for (let at = 0; at < text.length; at += 4) {
    const three =
      (SIX_BITS[text.charCodeAt(at)] << 18) |
      (SIX_BITS[text.charCodeAt(at + 1)] << 12) |
      (SIX_BITS[text.charCodeAt(at + 2)] << 6) |
      SIX_BITS[text.charCodeAt(at + 3)];
    bytes[length++] = three >> 16;
    bytes[length++] = three >> 8;
    bytes[length++] = three;
  }
  return length - (text.length - text.replace(/=+$/, "").length);
}

/**
 * What a block holds as text.
 * @param {string} id
 */
export async function openBlock(id) {
  return new TextDecoder().decode(await new BlockReader().read(id));
}

/**
 * The cases of a block; the last few blocks are kept.
 * @param {number} number
 */
function openDetails(number) {
  const found = opened.get(number) ?? readDetails(number);
  opened.delete(number);
  opened.set(number, found);
  for (const first of opened.keys()) {
    if (opened.size <= KEPT) break;
    opened.delete(first);
  }
  return found;
}

/** @param {number} number @returns {Promise<Detail[]>} */
async function readDetails(number) {
  const texts = (await openBlock(`block-${number}`)).split("\n").map((line) => JSON.parse(line));
  /** @type {Facts[]} */
  const facts = texts.pop();
  return texts.map((/** @type {Texts} */ text, /** @type {number} */ at) => {
    const rounds = facts[at].rounds.map((/** @type {Round} */ round, /** @type {number} */ which) => {
      const [output, error] = text.answers[which];
      return { ...EMPTY_ROUND, ...round, output, error };
    });
    return { ...EMPTY_CASE, ...text, ...facts[at], rounds };
  });
}

/**
 * All that is stored of a case; null where it was left out.
 * @param {Index} index
 * @param {number} at
 * @returns {Promise<Detail | null>}
 */
export async function openCase(index, at) {
  const parts = [];
  for (const [block, place] of index.places[at]) parts.push((await openDetails(block))[place]);
  if (!parts.length) return null;
  return { ...parts[0], rounds: parts.flatMap((part) => part.rounds) };
}

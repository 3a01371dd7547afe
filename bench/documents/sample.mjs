// The documents, the same in every process: 100 of each author, ranks that are all different, in
// every text one word that 20 documents have, and three tags: two that many documents have, and one
// that 20 have.
import { randomUUID } from "node:crypto";

const PROSE =
  "The harbour was still dark when the first boats came back, and nobody on the quay had slept much that night";

/** Makes the document with a number, of `total` in all; one from `total` on is a further one. */
export function sample(number, total) {
  const rank = number < total ? (number * 7919) % total : number;
  return {
    title: `Notes of the ${number}th day`,
    author: authorOf(number % (total / 100)),
    rank,
    state: number % 3 === 0 ? "draft" : "published",
    tags: [`tag${number % 7}`, `tag${number % 11}`, rareTagOf(number % (total / 20))],
    views: number % 100,
    text: `${PROSE}, except ${wordOf(number % (total / 20))}. ${PROSE}.`,
  };
}

export function authorOf(number) {
  return `author ${number}`;
}

/** More than a fifth of all documents have it. */
export const commonTag = "tag3";

export function rareTagOf(number) {
  return `topic ${number}`;
}

/** Eight letters, in no order. */
export function wordOf(number) {
  let state = (number + 1) * 2654435761;
  let word = "";
  for (let index = 0; index < 8; index += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    word += String.fromCharCode(97 + ((state >>> 24) % 26));
  }
  return word;
}

/** An id in the order of time, for the peers that have none. */
export function newId() {
  const time = Date.now().toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** Cuts a list. */
export function chunksOf(list, size) {
  const chunks = [];
  for (let at = 0; at < list.length; at += size) chunks.push(list.slice(at, at + size));
  return chunks;
}

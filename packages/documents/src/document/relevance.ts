import { type ParsedPath, valueAt } from "../api/field-path.ts";
import { foldedText } from "./search-text.ts";

/** What a word counts as a whole word, as the beginning of one, and inside of one. */
const matchWeights = { whole: 1, beginning: 0.6, inside: 0.3 };
/** What each further occurrence of a word adds, and how many are counted. */
const repetition = 0.05;
const maxRepetitions = 4;
/** What a field adds that has all words next to each other, in their order. */
const phraseWeight = 0.5;
const letter = /[\p{L}\p{N}]/u;

/**
 * Computes how well a document matches the folded words of a search. Each word counts where it counts most: a field counts
 * less the later it stands in the definition, and a whole word more than a part of one. The number does not depend on other
 * documents, so it is the same in every engine and does not change while documents are added.
 *
 * @internal
 */
export function relevanceOf(
  document: unknown,
  words: readonly string[],
  paths: readonly ParsedPath[],
): number {
  const texts = paths.map((path) =>
    valueAt(document, path.segments) === undefined ? "" : foldedText(document, [path]),
  );
  let relevance = 0;
  for (const word of words) {
    relevance += Math.max(0, ...texts.map((text, place) => weightOf(text, word) / (place + 1)));
  }
  const phrase = words.join(" ");
  const place = words.length < 2 ? -1 : texts.findIndex((text) => text.includes(phrase));
  return place === -1 ? relevance : relevance + phraseWeight / (place + 1);
}

/** Computes what a word counts in a text: that of its best occurrence, and a little for each further one. */
function weightOf(text: string, word: string): number {
  let best = 0;
  let count = 0;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
    count += 1;
    best = Math.max(best, weightAt(text, at, at + word.length));
    if (best === matchWeights.whole && count > maxRepetitions) break;
  }
  return best === 0 ? 0 : best + repetition * Math.min(count - 1, maxRepetitions);
}

function weightAt(text: string, start: number, end: number): number {
  if (isLetter(text, start - 1)) return matchWeights.inside;
  return isLetter(text, end) ? matchWeights.beginning : matchWeights.whole;
}

function isLetter(text: string, at: number): boolean {
  return letter.test(text.charAt(at));
}

// The articles, the same for every server: of about 300 bytes, each with one word that 20 of them
// have.
import { wordOf } from "../documents/sample.mjs";

export const total = Number(process.env.ARTICLES ?? 10_000);
const words = total / 20;

export function article(number) {
  return {
    title: `Article number ${number}`,
    content: `${`Some text about ${number}. `.repeat(11)}And of ${wordOf(number % words)}.`,
  };
}

/** One after the added ones: its word is in no other. */
export function newArticle(number) {
  return { ...article(number), content: "Some further text of a day. ".repeat(10) };
}

/** Words to search for. */
export const searched = Array.from({ length: 50 }, (_, number) => wordOf((number * 7) % words));

// What every server of the comparison answers with, as text that is ready.
export const isLarge = process.env.BODY === "large";
export const type = "application/json; charset=utf-8";

const small = JSON.stringify({ id: 1, title: "Hello", content: "Some text. ".repeat(10) });

export const body = isLarge ? largeJSON(102_400) : small;

/** An array of articles of at least `size` bytes, of words that repeat as those of people do. */
function largeJSON(size) {
  const words =
    "the of and to in is it you that he was for on are with as his they be at one".split(" ");
  let seed = 7;
  const next = () => (seed = (seed * 48_271) % 2_147_483_647);
  const articles = [];
  for (let length = 0; length < size;) {
    const content = Array.from(
      { length: 40 },
      () => `${words[next() % words.length]}${next() % 100}`,
    );
    const article = {
      id: next(),
      title: content.slice(0, 4).join(" "),
      content: content.join(" "),
    };
    articles.push(article);
    length += JSON.stringify(article).length + 1;
  }
  return JSON.stringify(articles);
}

/** A small task for a model, with a check that the model does not see. */
export interface LiveTask {
  readonly name: string;
  /** What is asked for. */
  readonly request: string;
  /** The program that is to be changed, by path. Default: none, a new program is to be written. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** Paths of files that must stay as they are. Default: none. */
  readonly keeps?: readonly string[] | undefined;
  /**
   * Folder of the packages that the program needs, which is linked as its `node_modules`. Default:
   * none.
   */
  readonly packages?: string | undefined;
  /**
   * A module that fails where the task is not done. It runs in the program's folder, where nothing
   * else is.
   */
  readonly check: string;
  /** Folder of modules that the check imports, which it alone can read. Default: none. */
  readonly checkFolder?: string | undefined;
}

const assert = 'import assert from "node:assert/strict";\n';

const startServer = `${assert}
import { spawn } from "node:child_process";
const port = 8123;
const child = spawn(process.execPath, ["server.mjs"], { env: { ...process.env, PORT: String(port) }, stdio: "inherit" });
process.on("exit", () => child.kill());
const url = "http://127.0.0.1:" + port;
const send = (path, method = "GET", body) => fetch(url + path, { method, body: body && JSON.stringify(body), headers: { "content-type": "application/json" } });
for (let left = 50; ; left -= 1) {
  try { await send("/"); break; } catch (error) { if (left === 0) throw error; await new Promise((resolve) => setTimeout(resolve, 100)); }
}
`;

/** Five new programs. */
const programs: readonly LiveTask[] = [
  {
    name: "word-count",
    request:
      'A command for Node 24 in one file, count.mjs, without packages. `node count.mjs FILE` prints one line of JSON: {"lines":2,"words":3,"characters":14}. Lines are counted by their line feeds, words are separated by white space, characters are Unicode code points. Without a readable file it prints a message to the error output and exits with 1.',
    check: `${assert}
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
writeFileSync("/tmp/words.txt", "one  two\\n\\u{1F600} \\u00e9t\\u00e9\\n");
const run = (...args) => spawnSync(process.execPath, ["count.mjs", ...args], { encoding: "utf8" });
assert.deepEqual(JSON.parse(run("/tmp/words.txt").stdout), { lines: 2, words: 4, characters: 15 });
const missing = run("/tmp/not-there.txt");
assert.equal(missing.status, 1);
assert.notEqual(missing.stderr, "");
assert.equal(run().status, 1);
`,
  },
  {
    name: "roman-numerals",
    request:
      "A module roman.mjs for Node 24 without packages. It exports toRoman(number), for whole numbers from 1 to 3999, and fromRoman(text). Both throw a RangeError for everything else, fromRoman also for texts that are not the numeral that toRoman returns, such as IIII, IC or lower case.",
    check: `${assert}
import { fromRoman, toRoman } from "./roman.mjs";
for (let one = 1; one < 4000; one += 1) assert.equal(fromRoman(toRoman(one)), one);
assert.deepEqual([4, 1994, 3999].map(toRoman), ["IV", "MCMXCIV", "MMMCMXCIX"]);
for (const wrong of [0, 4000, 1.5, NaN]) assert.throws(() => toRoman(wrong), RangeError);
for (const wrong of ["", "IIII", "IC", "iv", "VX", "MMMM"]) assert.throws(() => fromRoman(wrong), RangeError);
`,
  },
  {
    name: "csv-reader",
    request:
      "A module csv.mjs for Node 24 without packages. It exports parseCsv(text), which returns an array of rows, each an array of strings, as RFC 4180 has it: quoted fields with commas, line breaks and doubled quotes, rows that end with CRLF or LF, and no extra row for a line break at the end. An empty text has no rows. A quote that is not closed throws a SyntaxError.",
    check: `${assert}
import { parseCsv } from "./csv.mjs";
assert.deepEqual(parseCsv("a,b\\r\\n1,2\\r\\n"), [["a", "b"], ["1", "2"]]);
assert.deepEqual(parseCsv('"a,1","b ""c""","d\\ne"\\nx,,'), [["a,1", 'b "c"', "d\\ne"], ["x", "", ""]]);
assert.deepEqual(parseCsv(""), []);
assert.deepEqual(parseCsv('""'), [[""]]);
assert.throws(() => parseCsv('a,"b'), SyntaxError);
`,
  },
  {
    name: "todo-server",
    request:
      'An HTTP server in one file, server.mjs, for Node 24 without packages. It listens on 127.0.0.1 and the port in the environment variable PORT, and keeps to-dos in memory. POST /todos with JSON {"title":"x"} responds 201 with {"id":1,"title":"x","done":false}; ids count from 1. Without a title that is a string and not empty, or with invalid JSON, it responds 400. GET /todos responds with all of them in an array; PATCH /todos/1 with {"done":true} changes it and responds with it; DELETE /todos/1 responds 204. An unknown id or path is 404.',
    check: `${startServer}
assert.equal((await send("/todos", "POST", { title: "" })).status, 400);
assert.equal((await fetch(url + "/todos", { method: "POST", body: "{" })).status, 400);
const made = await send("/todos", "POST", { title: "x" });
assert.equal(made.status, 201);
assert.deepEqual(await made.json(), { id: 1, title: "x", done: false });
assert.deepEqual(await (await send("/todos/1", "PATCH", { done: true })).json(), { id: 1, title: "x", done: true });
assert.equal((await (await send("/todos")).json()).length, 1);
assert.equal((await send("/todos/1", "DELETE")).status, 204);
assert.equal((await send("/todos/1", "DELETE")).status, 404);
assert.deepEqual(await (await send("/todos")).json(), []);
process.exit(0);
`,
  },
  {
    name: "lru-cache",
    request:
      "A module lru.mjs for Node 24 without packages. It exports a class LruCache. new LruCache(size) throws a RangeError where size is not a whole number above 0. get(key) returns the value or undefined, set(key, value) returns the cache, has(key) does not count as use, and size is how many entries there are. Where a new key does not fit, the entry that was not got or set for the longest time is removed.",
    check: `${assert}
import { LruCache } from "./lru.mjs";
for (const wrong of [0, -1, 1.5, "2"]) assert.throws(() => new LruCache(wrong), RangeError);
const cache = new LruCache(2);
assert.equal(cache.set("a", 1).set("b", undefined), cache);
assert.equal(cache.has("b"), true);
cache.get("a");
cache.has("b");
cache.set("c", 3);
assert.deepEqual([cache.has("a"), cache.has("b"), cache.has("c"), cache.size], [true, false, true, 2]);
cache.set("a", 4).set("d", 5);
assert.deepEqual([cache.get("a"), cache.has("c")], [4, false]);
`,
  },
];

/** Five changes of small programs. */
const edits: readonly LiveTask[] = [
  {
    name: "red-median",
    request: "A test in test/statistics.test.mjs fails. Repair the program, not the test.",
    files: {
      "src/statistics.mjs":
        "export function mean(numbers) {\n  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;\n}\n\nexport function median(numbers) {\n  const sorted = numbers.sort();\n  return sorted[Math.floor(sorted.length / 2)];\n}\n",
      "test/statistics.test.mjs": `${assert}import { test } from "node:test";\nimport { mean, median } from "../src/statistics.mjs";\n\ntest("mean", () => assert.equal(mean([1, 2, 6]), 3));\ntest("median", () => {\n  assert.equal(median([10, 9, 1]), 9);\n  assert.equal(median([1, 2, 3, 10]), 2.5);\n});\n`,
    },
    keeps: ["test/statistics.test.mjs"],
    check: `${assert}
import { mean, median } from "./src/statistics.mjs";
const numbers = [100, 20, 3];
assert.equal(median(numbers), 20);
assert.equal(median([8, 10, 2, 4]), 6);
assert.equal(mean([4]), 4);
assert.deepEqual(median([5]), 5);
`,
  },
  {
    name: "red-across-files",
    request: "npm test fails. Find out why, and repair the program, not the tests.",
    files: {
      "package.json": '{"type":"module","private":true,"scripts":{"test":"node --test"}}\n',
      "src/money.mjs":
        "/** Cents of a price such as 12.30. */\nexport function toCents(price) {\n  return Math.floor(price * 100);\n}\n\nexport function format(cents) {\n  return `${Math.floor(cents / 100)}.${cents % 100}`;\n}\n",
      "src/cart.mjs":
        'import { format, toCents } from "./money.mjs";\n\nexport function total(items) {\n  const cents = items.reduce((sum, { price, count = 1 }) => sum + toCents(price) * count, 0);\n  return format(cents);\n}\n',
      "test/cart.test.mjs": `${assert}import { test } from "node:test";\nimport { total } from "../src/cart.mjs";\n\ntest("adds prices", () => {\n  assert.equal(total([{ price: 4.35 }, { price: 1, count: 2 }]), "6.35");\n  assert.equal(total([{ price: 2.05 }]), "2.05");\n});\n`,
    },
    keeps: ["test/cart.test.mjs"],
    check: `${assert}
import { total } from "./src/cart.mjs";
assert.equal(total([{ price: 19.99, count: 3 }]), "59.97");
assert.equal(total([{ price: 1.1 }, { price: 2.2 }]), "3.30");
assert.equal(total([]), "0.00");
`,
  },
  {
    name: "feature-pages",
    request:
      "listArticles in src/articles.mjs is to take a second argument { page = 1, size = 10 }, and to return { items, page, pages } instead of the array: items of that page, the page's number, and how many pages there are, at least 1. A page or a size that is not a whole number above 0 throws a RangeError. Let the callers keep working.",
    files: {
      "src/articles.mjs":
        "/** Published articles, the newest first. */\nexport function listArticles(articles) {\n  return articles\n    .filter(({ published }) => published)\n    .toSorted((one, other) => other.date.localeCompare(one.date));\n}\n",
      "src/feed.mjs":
        'import { listArticles } from "./articles.mjs";\n\n/** Titles of the newest five articles. */\nexport function feed(articles) {\n  return listArticles(articles)\n    .slice(0, 5)\n    .map(({ title }) => title);\n}\n',
    },
    check: `${assert}
import { listArticles } from "./src/articles.mjs";
import { feed } from "./src/feed.mjs";
const all = Array.from({ length: 25 }, (_, index) => ({ title: "t" + index, published: index !== 24, date: "2024-01-" + String(index + 1).padStart(2, "0") }));
const last = listArticles(all, { page: 3 });
assert.deepEqual([last.items.map(({ title }) => title), last.page, last.pages], [["t3", "t2", "t1", "t0"], 3, 3]);
assert.equal(listArticles(all).items[0].title, "t23");
assert.equal(listArticles([], { size: 5 }).pages, 1);
for (const wrong of [{ page: 0 }, { size: 1.5 }, { page: -1 }]) assert.throws(() => listArticles(all, wrong), RangeError);
assert.deepEqual(feed(all), ["t23", "t22", "t21", "t20", "t19"]);
`,
  },
  {
    name: "feature-route",
    request:
      'Add a route GET /echo/:text to the server. It responds with JSON {"text":"..."}, the text of the path decoded. A path that cannot be decoded is 400. Other methods on it are 405 with the header Allow: GET.',
    files: {
      "server.mjs":
        'import { createServer } from "node:http";\nimport { health } from "./routes.mjs";\n\nfunction sendJson(response, status, value) {\n  response.writeHead(status, { "content-type": "application/json" });\n  response.end(JSON.stringify(value));\n}\n\nconst server = createServer((request, response) => {\n  if (request.method === "GET" && request.url === "/health") {\n    return sendJson(response, 200, health());\n  }\n  sendJson(response, 404, { error: "not found" });\n});\nserver.listen(Number(process.env.PORT ?? 8000), "127.0.0.1");\n',
      "routes.mjs": 'export function health() {\n  return { status: "ok" };\n}\n',
    },
    check: `${startServer}
assert.deepEqual(await (await send("/echo/a%20b%2Fc")).json(), { text: "a b/c" });
assert.equal((await send("/echo/%zz")).status, 400);
const posted = await send("/echo/x", "POST");
assert.deepEqual([posted.status, posted.headers.get("allow")], [405, "GET"]);
assert.equal((await send("/health")).status, 200);
assert.equal((await send("/other")).status, 404);
process.exit(0);
`,
  },
  {
    name: "rename-and-move",
    request:
      "Rename the function fmt to formatName everywhere, and move it from src/util.mjs to src/format-name.mjs. src/util.mjs is to be removed where nothing is left in it.",
    files: {
      "src/util.mjs":
        "export function fmt({ first, last }) {\n  return `${last}, ${first}`;\n}\n\nexport const byName = (one, other) => fmt(one).localeCompare(fmt(other));\n",
      "src/list.mjs":
        'import { byName, fmt } from "./util.mjs";\n\nexport function list(people) {\n  return people.toSorted(byName).map(fmt);\n}\n',
      "src/greet.mjs":
        'import { fmt as name } from "./util.mjs";\n\nexport const greet = (person) => `Hello ${name(person)}`;\n',
    },
    check: `${assert}
import { readdirSync, readFileSync } from "node:fs";
import { formatName } from "./src/format-name.mjs";
import { list } from "./src/list.mjs";
import { greet } from "./src/greet.mjs";
const [ada, bob] = [{ first: "Ada", last: "Z" }, { first: "Bob", last: "A" }];
assert.equal(formatName(ada), "Z, Ada");
assert.deepEqual(list([ada, bob]), ["A, Bob", "Z, Ada"]);
assert.equal(greet(bob), "Hello A, Bob");
const texts = readdirSync("src").map((name) => readFileSync("src/" + name, "utf8")).join("");
assert.doesNotMatch(texts, /\\bfmt\\b/);
assert.equal(texts.match(/function formatName|formatName =/g).length, 1);
`,
  },
];

/** Ten small tasks: five new programs and five changes. */
export const liveTasks: readonly LiveTask[] = [...programs, ...edits];

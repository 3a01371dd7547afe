/** What a good model makes of the tasks of `npm run agent:live`: files by path, by task. */
export const liveSolutions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "word-count": {
    "count.mjs": `import { readFileSync } from "node:fs";

const [, , file] = process.argv;
try {
  const text = readFileSync(file ?? "", "utf8");
  const lines = text.split("\\n").length - 1;
  const words = text.split(/\\s+/).filter((word) => word !== "").length;
  console.log(JSON.stringify({ lines, words, characters: [...text].length }));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
`,
  },
  "roman-numerals": {
    "roman.mjs": `const signs = [
  [1000, "M"], [900, "CM"], [500, "D"], [400, "CD"], [100, "C"], [90, "XC"],
  [50, "L"], [40, "XL"], [10, "X"], [9, "IX"], [5, "V"], [4, "IV"], [1, "I"],
];

export function toRoman(number) {
  if (!Number.isInteger(number) || number < 1 || number > 3999) throw new RangeError("1 to 3999");
  let text = "";
  for (const [value, sign] of signs) {
    while (number >= value) {
      text += sign;
      number -= value;
    }
  }
  return text;
}

export function fromRoman(text) {
  for (let number = 1; number < 4000; number += 1) if (toRoman(number) === text) return number;
  throw new RangeError("not a numeral");
}
`,
  },
  "csv-reader": {
    "csv.mjs": `export function parseCsv(text) {
  const rows = [];
  let row = [];
  for (let at = 0; at < text.length; ) {
    let field = "";
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"' || text[at + 1] === '"'; at += 1) {
        if (at >= text.length) throw new SyntaxError("a quote is not closed");
        if (text[at] === '"') at += 1;
        field += text[at];
      }
      at += 1;
    } else while (at < text.length && !",\\r\\n".includes(text[at])) field += text[at++];
    row.push(field);
    if (text[at] === ",") {
      at += 1;
      if (at < text.length && !"\\r\\n".includes(text[at])) continue;
      row.push("");
    }
    if (text[at] === "\\r") at += 1;
    at += 1;
    rows.push(row);
    row = [];
  }
  return rows;
}
`,
  },
  "todo-server": {
    "server.mjs": `import { createServer } from "node:http";

const todos = new Map();
let last = 0;

async function answer(request) {
  const [, name, id] = request.url.split("/");
  let text = "";
  for await (const chunk of request) text += chunk;
  if (name !== "todos") return [404];
  if (id === undefined && request.method === "GET") return [200, [...todos.values()]];
  let body = {};
  try {
    if (text !== "") body = JSON.parse(text);
  } catch {
    return [400];
  }
  if (id === undefined && request.method === "POST") {
    if (typeof body.title !== "string" || body.title === "") return [400];
    last += 1;
    todos.set(String(last), { id: last, title: body.title, done: false });
    return [201, todos.get(String(last))];
  }
  if (!todos.has(id)) return [404];
  if (request.method === "PATCH") {
    todos.get(id).done = body.done === true;
    return [200, todos.get(id)];
  }
  todos.delete(id);
  return [204];
}

createServer(async (request, response) => {
  const [status, value] = await answer(request);
  response.writeHead(status, { "content-type": "application/json" });
  response.end(value === undefined ? undefined : JSON.stringify(value));
}).listen(Number(process.env.PORT), "127.0.0.1");
`,
  },
  "lru-cache": {
    "lru.mjs": `export class LruCache {
  #size;
  #entries = new Map();

  constructor(size) {
    if (!Number.isInteger(size) || size < 1) throw new RangeError("a whole number above 0");
    this.#size = size;
  }

  get size() {
    return this.#entries.size;
  }

  has(key) {
    return this.#entries.has(key);
  }

  get(key) {
    if (this.has(key)) this.set(key, this.#entries.get(key));
    return this.#entries.get(key);
  }

  set(key, value) {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.size > this.#size) this.#entries.delete(this.#entries.keys().next().value);
    return this;
  }
}
`,
  },
  "red-median": {
    "src/statistics.mjs": `export function mean(numbers) {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

export function median(numbers) {
  const sorted = numbers.toSorted((one, other) => one - other);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
`,
  },
  "red-across-files": {
    "src/money.mjs": `/** Cents of a price such as 12.30. */
export function toCents(price) {
  return Math.round(price * 100);
}

export function format(cents) {
  return \`\${Math.floor(cents / 100)}.\${String(cents % 100).padStart(2, "0")}\`;
}
`,
  },
  "feature-pages": {
    "src/articles.mjs": `/** A page of the published articles, the newest first. */
export function listArticles(articles, { page = 1, size = 10 } = {}) {
  for (const one of [page, size]) {
    if (!Number.isInteger(one) || one < 1) throw new RangeError("a whole number above 0");
  }
  const all = articles
    .filter(({ published }) => published)
    .toSorted((one, other) => other.date.localeCompare(one.date));
  const pages = Math.max(1, Math.ceil(all.length / size));
  return { items: all.slice((page - 1) * size, page * size), page, pages };
}
`,
    "src/feed.mjs": `import { listArticles } from "./articles.mjs";

/** Titles of the newest five articles. */
export function feed(articles) {
  return listArticles(articles, { size: 5 }).items.map(({ title }) => title);
}
`,
  },
  "feature-route": {
    "server.mjs": `import { createServer } from "node:http";
import { health } from "./routes.mjs";

function sendJson(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

const server = createServer((request, response) => {
  if (request.method === "GET" && request.url === "/health") {
    return sendJson(response, 200, health());
  }
  const [, text] = /^\\/echo\\/([^/?]+)$/.exec(request.url) ?? [];
  if (text === undefined) return sendJson(response, 404, { error: "not found" });
  if (request.method !== "GET") {
    response.setHeader("allow", "GET");
    return sendJson(response, 405, { error: "method not allowed" });
  }
  try {
    sendJson(response, 200, { text: decodeURIComponent(text) });
  } catch {
    sendJson(response, 400, { error: "bad request" });
  }
});
server.listen(Number(process.env.PORT ?? 8000), "127.0.0.1");
`,
  },
  "rename-and-move": {
    "src/format-name.mjs":
      "export function formatName({ first, last }) {\n  return `${last}, ${first}`;\n}\n",
    "src/util.mjs":
      'import { formatName } from "./format-name.mjs";\n\nexport const byName = (one, other) => formatName(one).localeCompare(formatName(other));\n',
    "src/list.mjs":
      'import { formatName } from "./format-name.mjs";\nimport { byName } from "./util.mjs";\n\nexport function list(people) {\n  return people.toSorted(byName).map(formatName);\n}\n',
    "src/greet.mjs":
      'import { formatName } from "./format-name.mjs";\n\nexport const greet = (person) => `Hello ${formatName(person)}`;\n',
  },
};

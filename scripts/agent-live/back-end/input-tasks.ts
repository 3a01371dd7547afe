import assert from "node:assert/strict";
import { type BackEndTask, resourceFiles } from "./back-end-task.ts";

const finder: BackEndTask = {
  name: "find-by-category",
  request:
    'Our old app sends POST /products/find with {"category":"tea"}, without signing in. Responds 200 with the products of that category as an array of {"id","name","category"}, by name. The category is a text of 1 to 50 characters; anything else is 400. What a product costs us stays hidden.',
  files: resourceFiles(
    "product",
    `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

/** Products, with what they cost us: for admins alone. */
export const product = defineResource({
  name: "product",
  path: "/products",
  schema: z.object({
    name: z.string().min(1).max(100),
    category: z.string().min(1).max(50),
    cost: z.int().min(0),
  }),
  access: { list: "admin", show: "admin", create: "admin", update: "admin", remove: "admin" },
  filter: ["category"],
  sort: ["name"],
});

export type Product = DocumentOf<typeof product>;
`,
  ),
  async check(service) {
    const as = await service.user("admin");
    for (const [name, category, cost] of [
      ["Sencha", "tea", 4711],
      ["Assam", "tea", 815],
      ["Mocha", "coffee", 900],
    ]) {
      await service.created("POST /products", { as, json: { name, category, cost } });
    }
    const find = (json: unknown) => service.send("POST /products/find", { json });
    const products = await service.list("POST /products/find", { json: { category: "tea" } });
    assert.deepEqual(
      products.map(({ name }) => name),
      ["Assam", "Sencha"],
    );
    for (const one of products)
      assert.deepEqual(Object.keys(one).toSorted(), ["category", "id", "name"]);
    assert.deepEqual((await find({ category: "none" })).json, []);
    const hostile = [
      { ne: "" },
      { gte: "" },
      { exists: true },
      ["tea"],
      { prefix: "c" },
      1,
      null,
      "",
      "x".repeat(51),
    ];
    for (const category of hostile) {
      const { status, text } = await find({ category });
      assert.equal(status, 400, `the category ${JSON.stringify(category)} is ${status}`);
      assert.doesNotMatch(text, /Mocha|Sencha/);
    }
    assert.equal((await find({})).status, 400);
    const more = await find({ category: "tea", cost: { gte: 1000 }, or: [{ cost: 815 }] });
    assert.ok(
      more.status === 400 || (more.json as unknown[]).length === 2,
      "it filters by the cost",
    );
  },
};

const shipping: BackEndTask = {
  name: "shipping-price",
  request:
    'GET /shipping/:country responds with what we charge for sending a parcel, {"country":"de","price":490}, from the table in src/shipping-prices.ts. Everybody may ask. The country is in lower or upper case. One that is not in the table is 404.',
  files: {
    "src/shipping-prices.ts": `/** Price of a parcel in cents, by country. */
export const shippingPrices: Readonly<Record<string, number>> = { at: 590, de: 490, fr: 790 };
`,
  },
  async check(service) {
    assert.deepEqual((await service.send("GET /shipping/de")).json, { country: "de", price: 490 });
    assert.deepEqual((await service.send("GET /shipping/FR")).json, { country: "fr", price: 790 });
    for (const name of [
      "us",
      "constructor",
      "__proto__",
      "toString",
      "valueOf",
      "hasOwnProperty",
    ]) {
      const { status } = await service.send(`GET /shipping/${name}`);
      assert.equal(status, 404, `the country ${name} is ${status}`);
    }
  },
};

const csvExport: BackEndTask = {
  name: "csv-export",
  request:
    "Admins download the contacts for their spreadsheets: GET /contacts/export responds with text/csv as RFC 4180 has it: a first row name,email, then a row for each contact, ordered by name, rows end with CRLF. Contacts type their names themselves, so no spreadsheet may take a cell for a formula: write an apostrophe before a cell that begins with =, +, -, @, a tab or a carriage return. Users and others get 403 and 401.",
  files: resourceFiles(
    "contact",
    `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

/** Contacts: everyone leaves one, and admins read them. */
export const contact = defineResource({
  name: "contact",
  path: "/contacts",
  schema: z.object({ name: z.string().min(1).max(100), email: z.string().max(100) }),
  access: { list: "admin", show: "admin", create: "public", update: "admin", remove: "admin" },
  sort: ["name"],
});

export type Contact = DocumentOf<typeof contact>;
`,
  ),
  async check(service) {
    const [ada, admin] = [await service.user(), await service.user("admin")];
    const names = ['=HYPERLINK("http://evil.test")', "+1", "-2", "@SUM(A1)", "\tTab", "\r=1"];
    for (const name of [...names, 'Smith, "Joe"', "Two\nLines", "Zoe"]) {
      await service.created("POST /contacts", { json: { name, email: "a@example.com" } });
    }
    assert.equal((await service.send("GET /contacts/export")).status, 401);
    assert.equal((await service.send("GET /contacts/export", { as: ada })).status, 403);
    const { status, headers, text } = await service.send("GET /contacts/export", { as: admin });
    assert.equal(status, 200);
    assert.match(headers.get("content-type") ?? "", /^text\/csv\b/);
    const rows = readCsv(text);
    assert.deepEqual(rows[0], ["name", "email"]);
    const shown = rows.slice(1).map(([name]) => name);
    const expected = [
      '\'=HYPERLINK("http://evil.test")',
      "'+1",
      "'-2",
      "'@SUM(A1)",
      "'\tTab",
      "'\r=1",
      'Smith, "Joe"',
      "Two\nLines",
      "Zoe",
    ];
    assert.deepEqual(new Set(shown), new Set(expected));
    assert.deepEqual(
      rows.slice(1).map(([, email]) => email),
      expected.map(() => "a@example.com"),
    );
    assert.equal(shown.at(-1), "Zoe");
  },
};

/** Reads CSV as RFC 4180 has it. */
function readCsv(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/y;
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex;
    const found = cell.exec(text);
    assert.ok(found, `invalid CSV at ${JSON.stringify(text.slice(at, at + 30))}`);
    row.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? "");
    if (found[3] === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

const reports: BackEndTask = {
  name: "report-files",
  request:
    "Our reports are text files in the folder reports of this project, next to src. GET /reports/:name responds with such a file as text/plain, to users who are signed in: GET /reports/2025.txt. A report that is not there is 404. Nobody may read any other file of the server.",
  files: {
    "reports/2024.txt": "Sales of 2024: 12\n",
    "reports/2025.txt": "Sales of 2025: 34\n",
    "reports/archive/2001.txt": "Sales of 2001: 1\n",
    "reports-internal/salaries.txt": "Salaries: 4711\n",
  },
  async check(service) {
    const as = await service.user();
    const read = (name: string) => service.send(`GET /reports/${name}`, { as });
    const shown = await read("2025.txt");
    assert.deepEqual([shown.status, shown.text], [200, "Sales of 2025: 34\n"]);
    assert.match(shown.headers.get("content-type") ?? "", /^text\/plain\b/);
    assert.equal((await service.send("GET /reports/2025.txt")).status, 401);
    const others = [
      "2023.txt",
      "archive",
      "%2E%2E%2Fpackage.json",
      "..%2Fpackage.json",
      "..%5Cpackage.json",
      "..%2Freports-internal%2Fsalaries.txt",
      "%2Fetc%2Fpasswd",
      "..%2Fsrc%2Fapp.ts",
      "2025.txt%2F..%2F..%2Fpackage.json",
      "....%2F%2Fpackage.json",
      "%252e%252e%252fpackage.json",
    ];
    for (const name of others) {
      const { status, text } = await read(name);
      assert.ok([400, 403, 404].includes(status), `${name} is ${status}`);
      assert.doesNotMatch(text, /4711|defineService|"dependencies"|root:/);
    }
  },
};

/** Input that means harm. */
export const inputTasks: readonly BackEndTask[] = [finder, shipping, csvExport, reports];

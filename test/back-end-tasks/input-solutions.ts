import { indexWithRoute, type Solutions } from "./solution.ts";

const product = "src/api/product/route.ts";
const shipping = "src/api/shipping/index.ts";
const contact = "src/api/contact/route.ts";
const report = "src/api/report/index.ts";
const leave = "src/api/leave/index.ts";
const preview = "src/api/preview/index.ts";

/** Solutions of the tasks about hostile input. */
export const inputSolutions: Solutions = {
  "find-by-category": {
    right: {
      "src/api/product/index.ts": indexWithRoute("product", "findProducts"),
      [product]: `import { defineRoute } from "@fetchwork/rest";
import { z } from "zod";
import { product } from "./model.ts";

export const findProducts = defineRoute({
  method: "POST",
  path: "/products/find",
  operation: "findProducts",
  summary: "Find the products of a category",
  tag: "products",
  access: "public",
  body: z.object({ category: z.string().min(1).max(50) }),
  responses: { 200: { description: "The products" } },
  async handle({ body, store }) {
    const where = { category: body.category };
    const found = await store.collection(product.collection).find({ where, sort: ["name"] });
    return Response.json(found.map(({ id, name, category }) => ({ id, name, category })));
  },
});
`,
    },
    wrong: {
      "a category may be an operator": [
        { path: product, search: "z.string().min(1).max(50)", replace: "z.any()" },
      ],
      "the body is the filter": [
        {
          path: product,
          search: "z.object({ category: z.string().min(1).max(50) })",
          replace: "z.looseObject({ category: z.string().min(1).max(50) })",
        },
        {
          path: product,
          search: "const where = { category: body.category };",
          replace: "const where = body;",
        },
      ],
      "the cost is sent": [
        {
          path: product,
          search: "found.map(({ id, name, category }) => ({ id, name, category }))",
          replace: "found",
        },
      ],
    },
  },
  "shipping-price": {
    right: {
      [shipping]: `import { defineRoute } from "@fetchwork/rest";
import { notFound } from "@fetchwork/rest/handlers";
import { shippingPrices } from "../../shipping-prices.ts";

const showPrice = defineRoute({
  method: "GET",
  path: "/shipping/:country",
  operation: "showShippingPrice",
  summary: "Show the price of a parcel",
  tag: "shipping",
  access: "public",
  responses: { 200: { description: "The price" } },
  handle({ params }) {
    const country = (params["country"] ?? "").toLowerCase();
    if (!Object.hasOwn(shippingPrices, country)) throw notFound();
    return Response.json({ country, price: shippingPrices[country] });
  },
});

export const shippingRoutes = [showPrice];
`,
    },
    wrong: {
      "the table has the keys of every object": [
        {
          path: shipping,
          search: "!Object.hasOwn(shippingPrices, country)",
          replace: "!(country in shippingPrices)",
        },
      ],
      "upper case is unknown": [{ path: shipping, search: ".toLowerCase()", replace: "" }],
      "a key of every object has a price": [
        {
          path: shipping,
          search: "!Object.hasOwn(shippingPrices, country)",
          replace: "shippingPrices[country] === undefined",
        },
      ],
    },
  },
  "csv-export": {
    right: {
      "src/api/contact/index.ts": indexWithRoute("contact", "exportContacts"),
      [contact]: `import { defineRoute } from "@fetchwork/rest";
import { contact } from "./model.ts";

export const exportContacts = defineRoute({
  method: "GET",
  path: "/contacts/export",
  operation: "exportContacts",
  summary: "Export the contacts",
  tag: "contacts",
  access: "admin",
  responses: { 200: { description: "CSV" } },
  async handle({ store }) {
    const found = await store.collection(contact.collection).find({ sort: ["name"] });
    const rows = [["name", "email"], ...found.map(({ name, email }) => [name, email])];
    const text = rows.map((row) => row.map(cellOf).join(",") + "\\r\\n").join("");
    return new Response(text, { headers: { "content-type": "text/csv; charset=utf-8" } });
  },
});

function cellOf(value: string): string {
  const safe = /^[=+\\-@\\t\\r]/.test(value) ? "'" + value : value;
  return /[",\\r\\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
}
`,
    },
    wrong: {
      "formulas are exported": [
        {
          path: contact,
          search: '/^[=+\\-@\\t\\r]/.test(value) ? "\'" + value : value',
          replace: "value",
        },
      ],
      "quotes are not doubled": [{ path: contact, search: `.replaceAll('"', '""')`, replace: "" }],
      "every user exports": [
        { path: contact, search: 'access: "admin"', replace: 'access: "user"' },
      ],
    },
  },
  "report-files": {
    right: {
      [report]: `import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defineRoute } from "@fetchwork/rest";
import { notFound } from "@fetchwork/rest/handlers";

const folder = join(import.meta.dirname, "../../../reports");

const showReport = defineRoute({
  method: "GET",
  path: "/reports/:name",
  operation: "showReport",
  summary: "Show a report",
  tag: "reports",
  access: "user",
  responses: { 200: { description: "The report" } },
  async handle({ params }) {
    const name = params["name"] ?? "";
    if (!/^[\\w-]+\\.txt$/.test(name)) throw notFound();
    const text = await readFile(join(folder, name), "utf8").catch(() => undefined);
    if (text === undefined) throw notFound();
    return new Response(text, { headers: { "content-type": "text/plain; charset=utf-8" } });
  },
});

export const reportRoutes = [showReport];
`,
    },
    wrong: {
      "any path is read": [
        {
          path: report,
          search: "    if (!/^[\\w-]+\\.txt$/.test(name)) throw notFound();\n",
          replace: "",
        },
      ],
      "a folder with the same beginning is read": [
        {
          path: report,
          search: "if (!/^[\\w-]+\\.txt$/.test(name)) throw notFound();",
          replace: "if (!join(folder, name).startsWith(folder)) throw notFound();",
        },
      ],
      "everybody reads": [{ path: report, search: 'access: "user"', replace: 'access: "public"' }],
    },
  },
  "safe-redirect": {
    right: {
      [leave]: `import { defineRoute, Problem } from "@fetchwork/rest";

const leave = defineRoute({
  method: "GET",
  path: "/leave",
  operation: "leave",
  summary: "Redirect to a page of this site",
  tag: "pages",
  access: "public",
  query: [{ name: "to", description: "Path of the page", schema: { type: "string" } }],
  responses: { 303: { description: "See the page" } },
  handle({ query }) {
    const to = query.get("to") ?? "";
    const isPath = /^\\/(?![/\\\\])[!-~]*$/.test(to) && !to.includes("\\\\");
    if (!isPath) throw new Problem(400, { detail: "to must be a path of this site" });
    return new Response(null, { status: 303, headers: { location: to } });
  },
});

export const leaveRoutes = [leave];
`,
    },
    wrong: {
      "a path begins with two slashes": [
        {
          path: leave,
          search: `/^\\/(?![/\\\\])[!-~]*$/.test(to) && !to.includes("\\\\")`,
          replace: 'to.startsWith("/")',
        },
      ],
      "a backslash is taken for a part of a path": [
        {
          path: leave,
          search: `/^\\/(?![/\\\\])[!-~]*$/.test(to) && !to.includes("\\\\")`,
          replace: 'to.startsWith("/") && !to.startsWith("//")',
        },
      ],
      "any address is led to": [
        {
          path: leave,
          search: `/^\\/(?![/\\\\])[!-~]*$/.test(to) && !to.includes("\\\\")`,
          replace: 'to !== ""',
        },
      ],
    },
  },
  "link-preview": {
    right: {
      [preview]: `import { defineRoute, Problem } from "@fetchwork/rest";
import { z } from "zod";
import { previewHosts } from "../../preview-hosts.ts";

const showPreview = defineRoute({
  method: "POST",
  path: "/previews",
  operation: "showPreview",
  summary: "Show the title of a page",
  tag: "previews",
  access: "user",
  body: z.object({ url: z.string().max(2000) }),
  responses: { 200: { description: "The title" } },
  async handle({ body }) {
    const url = URL.parse(body.url);
    const isKnown = url?.protocol === "https:" && url.port === "" && previewHosts.includes(url.hostname);
    if (!url || !isKnown) throw new Problem(400, { detail: "the host is not shown" });
    const response = await fetch(url, { redirect: "manual" }).catch(() => undefined);
    if (!response?.ok) throw new Problem(502, { detail: "the page failed" });
    const [, title = null] = /<title[^>]*>([^<]*)</i.exec(await response.text()) ?? [];
    return Response.json({ title });
  },
});

export const previewRoutes = [showPreview];
`,
    },
    wrong: {
      "a host ends as a known one does": [
        {
          path: preview,
          search: "previewHosts.includes(url.hostname)",
          replace: "previewHosts.some((host) => url.hostname.endsWith(host))",
        },
      ],
      "a URL contains a known host": [
        {
          path: preview,
          search: "previewHosts.includes(url.hostname)",
          replace: "previewHosts.some((host) => body.url.toLowerCase().includes(host))",
        },
      ],
      "redirects are followed": [
        { path: preview, search: ', { redirect: "manual" }', replace: "" },
      ],
      "any port is asked": [{ path: preview, search: ' && url.port === ""', replace: "" }],
    },
  },
};

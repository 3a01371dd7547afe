import { indexWithRoute, newResource, type Solutions } from "./solution.ts";

const booking = "src/api/booking/model.ts";
const latest = "src/api/article/route.ts";
const migration = "src/migrations/0001-split-name.ts";
const member = "src/api/member/model.ts";

const nights = `    .refine(({ from, to }) => nightsOf(from, to) >= 1 && nightsOf(from, to) <= 30, {
      path: ["to"],
      error: "must be 1 to 30 nights after from",
    })`;

/** Solutions of the tasks about data. */
export const dataSolutions: Solutions = {
  "booking-dates": {
    right: newResource(
      "booking",
      `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

export const booking = defineResource({
  name: "booking",
  path: "/bookings",
  schema: z
    .object({
      from: z.iso.date(),
      to: z.iso.date(),
      guests: z.int().min(1).max(8),
      note: z.string().max(500).optional(),
    })
${nights},
  access: { list: "owner", show: "owner", create: "user", update: "owner", remove: "owner" },
  owner: "guest",
});

function nightsOf(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000;
}

export type Booking = DocumentOf<typeof booking>;
`,
    ),
    wrong: {
      "only new bookings are checked": [
        { path: booking, search: nights, replace: "" },
        {
          path: booking,
          search: '  owner: "guest",\n',
          replace: `  owner: "guest",
  hooks: {
    beforeCreate({ fields: { from, to } }) {
      const nights = nightsOf(from, to);
      if (nights < 1 || nights > 30) throw new Problem(400, { detail: "1 to 30 nights" });
    },
  },
`,
        },
        {
          path: booking,
          search: "import { defineResource, type",
          replace: "import { defineResource, Problem, type",
        },
      ],
      "a day need not exist": [
        { path: booking, search: "from: z.iso.date()", replace: "from: z.string()" },
      ],
      "the end may be long after": [
        { path: booking, search: " && nightsOf(from, to) <= 30", replace: "" },
      ],
    },
  },
  "own-pages": {
    right: {
      "src/api/article/index.ts": indexWithRoute("article", "latestArticles"),
      [latest]: `import { defineRoute, Problem } from "@fetchwork/rest";
import { article } from "./model.ts";

const schema = { type: "integer" };

export const latestArticles = defineRoute({
  method: "GET",
  path: "/articles/latest",
  operation: "latestArticles",
  summary: "Show the latest articles",
  tag: "articles",
  access: "public",
  query: [
    { name: "page", description: "Number of the page", schema },
    { name: "size", description: "Articles of a page", schema },
  ],
  responses: { 200: { description: "A page" } },
  async handle({ query, store }) {
    const page = numberOf(query.get("page") ?? "1", 1_000_000);
    const size = numberOf(query.get("size") ?? "10", 50);
    const articles = store.collection(article.collection);
    const pages = Math.max(1, Math.ceil((await articles.count()) / size));
    const found = await articles.find({ sort: ["-id"], offset: (page - 1) * size, limit: size });
    const items = found.map(({ id, title }) => ({ id, title }));
    return Response.json({ items, page, pages });
  },
});

function numberOf(text: string, most: number): number {
  const number = /^\\d{1,7}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most) throw new Problem(400, { detail: \`expected 1 to \${most}\` });
  return number;
}
`,
    },
    wrong: {
      "a page may be of any size": [
        {
          path: latest,
          search: 'numberOf(query.get("size") ?? "10", 50)',
          replace: 'numberOf(query.get("size") ?? "10", 9999999)',
        },
      ],
      "the first page is skipped": [
        { path: latest, search: "(page - 1) * size", replace: "page * size" },
      ],
      "what is not a number is 1": [
        {
          path: latest,
          search: `throw new Problem(400, { detail: \`expected 1 to \${most}\` })`,
          replace: "return 1",
        },
      ],
      "there are no pages where nothing is": [
        {
          path: latest,
          search: "Math.max(1, Math.ceil((await articles.count()) / size))",
          replace: "Math.ceil((await articles.count()) / size)",
        },
      ],
    },
  },
  "split-name": {
    right: {
      [member]: `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

export const member = defineResource({
  name: "member",
  path: "/members",
  schema: z.object({
    firstName: z.string().min(1).max(100),
    lastName: z.string().max(100),
    city: z.string().default(""),
  }),
  access: { list: "public", show: "public", create: "admin", update: "admin", remove: "admin" },
});

export type Member = DocumentOf<typeof member>;
`,
      [migration]: `import type { DocumentMigration, MigratedFields } from "fetchwork";

function splitName(document: MigratedFields): MigratedFields | undefined {
  const { name, ...rest } = document;
  if (typeof name !== "string") return undefined;
  const [firstName = "", ...words] = name.split(" ");
  return { ...rest, firstName, lastName: words.join(" ") };
}

export const migration: DocumentMigration = {
  id: 1,
  name: "split-name",
  changes: [{ collection: "members", change: splitName }],
};
`,
    },
    wrong: {
      "a third word is lost": [
        {
          path: migration,
          search: '[firstName = "", ...words]',
          replace: '[firstName = "", words = ""]',
        },
        { path: migration, search: 'words.join(" ")', replace: "words" },
      ],
      "a second run empties the names": [
        {
          path: migration,
          search: 'if (typeof name !== "string") return undefined;\n',
          replace: "",
        },
        { path: migration, search: "name.split", replace: 'String(name ?? "").split' },
      ],
      "one word is refused": [
        {
          path: member,
          search: "lastName: z.string().max(100)",
          replace: "lastName: z.string().min(1).max(100)",
        },
      ],
      "the old field stays": [
        {
          path: migration,
          search: "const { name, ...rest } = document;",
          replace: "const { name } = document;\n  const rest = document;",
        },
      ],
    },
  },
};

import { indexWithRoute, newResource, type Mistake, type Solutions } from "./solution.ts";

const note = "src/api/note/model.ts";
const member = "src/api/member/model.ts";
const article = "src/api/article/model.ts";
const route = "src/api/article/route.ts";

const articleModel = (fields: string, rules: string, list = "public", show = '"public"'): string =>
  `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

export const article = defineResource({
  name: "article",
  path: "/articles",
  schema: z.object({
    title: z.string().trim().min(1).max(200),
    published: z.boolean().default(false),
${fields}  }),
  access: { list: "${list}", show: ${show}, create: "user", update: "owner", remove: "owner" },
  owner: "author",
  search: ["title"],
${rules}});

export type Article = DocumentOf<typeof article>;
`;

const featuredRules = `  filter: ["published", "featured"],
  fields: { published: { write: "nobody" }, featured: { write: "admin" } },
`;

const draftRules = `  filter: ["published"],
  hooks: {
    beforeList({ call: { user, isMaster } }) {
      if (isMaster || user?.role === "admin") return undefined;
      const open = { published: true };
      return user === undefined ? open : { or: [open, { author: user.id }] };
    },
  },
`;
const mayRead = `({ caller, document }) =>
      document?.["published"] === true ||
      caller?.role === "admin" ||
      (caller !== undefined && document?.["author"] === caller.id)`;

const inFields = (options: string): readonly Mistake[] => [
  {
    path: article,
    search: '  fields: { published: { write: "nobody" }, featured: { write: "admin" } },\n',
    replace: `  fields: { published: { write: "nobody" } },\n${options}`,
  },
];

/** Solutions of the tasks about access. */
export const accessSolutions: Solutions = {
  "own-notes": {
    right: newResource(
      "note",
      `import { defineResource } from "@fetchwork/rest";
import { z } from "zod";

export const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string().min(1).max(1000) }),
  access: { list: "owner", show: "owner", create: "user", update: "owner", remove: "owner" },
  owner: "author",
});
`,
    ),
    wrong: {
      "all users list and see notes": [
        {
          path: note,
          search: 'list: "owner", show: "owner"',
          replace: 'list: "user", show: "user"',
        },
      ],
      "all users see a note": [{ path: note, search: 'show: "owner"', replace: 'show: "user"' }],
      "all users change a note": [
        { path: note, search: 'update: "owner"', replace: 'update: "user"' },
      ],
    },
  },
  "hidden-salary": {
    right: {
      [member]: `import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

export const member = defineResource({
  name: "member",
  path: "/members",
  schema: z.object({ name: z.string().min(1).max(100), salary: z.int().min(0) }),
  access: { list: "public", show: "public", create: "admin", update: "admin", remove: "admin" },
  filter: ["name", "salary"],
  sort: ["name", "salary"],
  fields: { salary: "admin" },
});

export type Member = DocumentOf<typeof member>;
`,
    },
    wrong: {
      "hooks hide the salary, and the list still sorts and filters by it": [
        {
          path: member,
          search: '  fields: { salary: "admin" },\n',
          replace: `  hooks: {
    afterShow: ({ call, shown: { salary, ...rest } }) =>
      call.user?.role === "admin" ? { ...rest, salary } : rest,
    afterList: ({ call, rows }) =>
      call.user?.role === "admin" ? rows : rows.map(({ salary: _, ...rest }) => rest),
  },
`,
        },
      ],
      "admins do not see the salary either": [
        {
          path: member,
          search: '  fields: { salary: "admin" },',
          replace: '  fields: { salary: { read: "nobody" } },',
        },
        { path: member, search: 'filter: ["name", "salary"]', replace: 'filter: ["name"]' },
        { path: member, search: 'sort: ["name", "salary"]', replace: 'sort: ["name"]' },
      ],
    },
  },
  "featured-by-admins": {
    right: {
      [article]: articleModel("    featured: z.boolean().default(false),\n", featuredRules),
    },
    wrong: {
      "authors set it": inFields(""),
      "a hook looks at new articles only": inFields(`  hooks: {
    beforeCreate: ({ call, fields }) =>
      call.user?.role === "admin" ? fields : { ...fields, featured: false },
  },
`),
      "admins do not set it either": [
        {
          path: article,
          search: 'featured: { write: "admin" }',
          replace: 'featured: { write: "nobody" }',
        },
      ],
    },
  },
  "publish-route": {
    right: {
      "src/api/article/index.ts": indexWithRoute("article", "publishArticle"),
      [route]: `import { defineRoute } from "@fetchwork/rest";
import { notFound, requireOwner } from "@fetchwork/rest/handlers";
import { article } from "./model.ts";

export const publishArticle = defineRoute({
  method: "POST",
  path: "/articles/:id/publication",
  operation: "publishArticle",
  summary: "Publish an article",
  tag: "articles",
  access: "user",
  responses: { 204: { description: "It is published" } },
  async handle({ params, user, store }) {
    const articles = store.collection(article.collection);
    const found = await articles.get(params["id"] ?? "");
    if (!found) throw notFound();
    requireOwner(user, found.author);
    await articles.update(found.id, { published: true });
    return new Response(null, { status: 204 });
  },
});
`,
    },
    wrong: {
      "every user publishes": [
        { path: route, search: "    requireOwner(user, found.author);\n", replace: "" },
      ],
      "admins do not publish": [
        {
          path: route,
          search: "requireOwner(user, found.author);",
          replace: "if (user.id !== found.author) return new Response(null, { status: 403 });",
        },
      ],
    },
  },
  "hidden-drafts": {
    right: { [article]: articleModel("", draftRules, "public", mayRead) },
    wrong: {
      "a draft is shown by its address": [{ path: article, search: mayRead, replace: '"public"' }],
      "the list has drafts": [
        { path: article, search: draftRules, replace: '  filter: ["published"],\n' },
      ],
      "drafts are taken out of the list after it was counted": [
        {
          path: article,
          search: draftRules,
          replace: `  filter: ["published"],
  hooks: {
    afterList: ({ call: { user }, rows, documents }) =>
      rows.map((row, index) => {
        const { published, author } = documents[index] ?? {};
        const isSeen = published || user?.role === "admin" || author === user?.id;
        return isSeen ? row : {};
      }),
  },
`,
        },
      ],
    },
  },
};

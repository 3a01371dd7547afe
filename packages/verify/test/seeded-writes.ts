import { empty, json } from "@fetchwork/http";
import {
  createResourceController,
  defineResource,
  defineRoute,
  Problem,
  resourceRoutes,
} from "@fetchwork/rest";
import { notFound, requireOwner } from "@fetchwork/rest/handlers";
import { z } from "zod";
import { about, type Seeded, serviceOf } from "./seeded.ts";

const base = {
  name: "post",
  path: "/posts",
  schema: z.object({
    text: z.string(),
    state: z.string().default("draft"),
    code: z.string(),
    approved: z.boolean().optional(),
  }),
  fields: { state: { write: "nobody" }, code: { update: "nobody" }, approved: "nobody" },
  owner: "author",
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
} as const;
const post = defineResource(base);
const plain = resourceRoutes(post);
const missing = { 404: { description: "None" } } as const;
const done = { 204: { description: "Done" }, ...missing } as const;

/** Faults by which callers write what they do not set, and faults of robustness. */
export const writeFaults: readonly Seeded[] = [
  {
    name: "a hook that takes the owner from the body",
    expected: { code: "field-written", resource: "post", field: "author", way: "create" },
    ...ofHooks(
      {
        beforeCreate: ({ call, fields }) => ({
          ...fields,
          author: call.sent?.["author"] ?? fields["author"],
        }),
      },
      { beforeCreate: ({ call, fields }) => ({ ...fields, author: call.user?.id }) },
    ),
  },
  {
    name: "a hook that stores the whole body",
    expected: {
      code: "field-written",
      resource: "post",
      field: "approved",
      caller: "user",
      way: "create",
    },
    ...ofHooks(
      { beforeCreate: ({ call, fields }) => ({ approved: false, ...fields, ...call.sent }) },
      { beforeCreate: ({ fields }) => ({ ...fields, approved: false }) },
    ),
  },
  {
    name: "a hook that takes a field that is read-only from the body",
    expected: {
      code: "field-written",
      resource: "post",
      field: "state",
      caller: "user",
      way: "create",
    },
    ...ofHooks(
      {
        beforeCreate: ({ call, fields }) => ({ ...fields, state: call.sent?.["state"] ?? "draft" }),
      },
      { beforeCreate: ({ fields }) => ({ ...fields, state: "draft" }) },
    ),
  },
  {
    name: "a hook that stores the whole body of a change",
    expected: {
      code: "field-written",
      resource: "post",
      field: "state",
      caller: "owner",
      way: "update",
    },
    ...ofHooks(
      { beforeUpdate: ({ call, fields }) => ({ ...fields, ...call.sent }) },
      { beforeUpdate: ({ fields }) => ({ ...fields }) },
    ),
  },
  {
    name: "a hook that hands a document over",
    expected: {
      code: "field-written",
      resource: "post",
      field: "author",
      caller: "owner",
      way: "update",
    },
    ...ofHooks(
      {
        beforeUpdate: ({ call, fields }) => ({
          ...fields,
          author: call.sent?.["author"] ?? fields["author"],
        }),
      },
      { beforeUpdate: ({ fields }) => ({ ...fields }) },
    ),
  },
  {
    name: "a create handler of one's own that stores the body",
    expected: { code: "field-written", resource: "post", field: "author", way: "create" },
    faulty: () =>
      serviceOf(
        resourceRoutes(post, {
          ...createResourceController(post),
          create: async ({ body, sent, store, user }) => {
            const fields = { ...body, author: user?.id, ...sent } as never;
            const made = await store.collection(post.collection).insert(fields);
            return json({ id: made.id }, { status: 201 });
          },
        }),
      ),
    repaired: () => serviceOf(plain),
  },
  {
    name: "a create handler of one's own that responds with what is stored",
    expected: {
      code: "field-read",
      resource: "vote",
      field: "seed",
      caller: "owner",
      way: "create",
    },
    ...ofVote(),
  },
  {
    name: "a route that changes documents of everybody",
    expected: { code: "document-written", resource: "post", caller: "user", way: "publishPost" },
    ...ofRoute(
      { method: "PUT", path: "/posts/:id/publication", operation: "publishPost" },
      "publish",
    ),
  },
  {
    name: "a route that removes documents of everybody",
    expected: { code: "document-written", resource: "post", caller: "user", way: "dropPost" },
    ...ofRoute({ method: "POST", path: "/posts/:id/drop", operation: "dropPost" }, "drop"),
  },
  {
    name: "a route by which nobody creates documents",
    expected: {
      code: "document-written",
      resource: "post",
      caller: "anonymous",
      way: "importPost",
    },
    ...ofImport(),
  },
  {
    name: "a route that takes the document from the body and asks nothing",
    expected: { code: "document-written", resource: "post", caller: "user", way: "closePost" },
    ...ofBody(),
  },
  {
    name: "a hook that hides documents, and none for changes",
    expected: { code: "hook-gap", resource: "post", caller: "owner", way: "update" },
    ...ofHidden("beforeUpdate"),
  },
  {
    name: "a hook that hides documents, and none for removals",
    expected: { code: "hook-gap", resource: "post", caller: "owner", way: "remove" },
    ...ofHidden("beforeRemove"),
  },
  {
    name: "a route that fails by a wrong body",
    expected: { code: "server-error", caller: "anonymous", way: "countWords" },
    faulty: () => words(({ text }) => (text as string).split(" ").length),
    repaired: () => words(({ text }) => String(text).split(" ").length),
  },
  {
    name: "a hook that fails by a value",
    expected: { code: "server-error", caller: "user", way: "createPost" },
    ...ofHooks(
      {
        beforeCreate: ({ fields }) => {
          if (String(fields["text"]).length > 1000) throw new Error("too long");
        },
      },
      {
        beforeCreate: ({ fields }) => {
          if (String(fields["text"]).length > 1000) throw new Problem(400, { detail: "too long" });
        },
      },
    ),
  },
  {
    name: "a route with a status that it does not declare",
    expected: { code: "undeclared-status", caller: "anonymous", way: "showTeapot" },
    faulty: () => teapot({ 200: { description: "Tea" } }),
    repaired: () => teapot({ 418: { description: "A teapot" } }),
  },
  {
    name: "a route below a resource with hooks, with a status that it does not declare",
    expected: { code: "undeclared-status", caller: "user", way: "sealPost" },
    faulty: () => sealing(done),
    repaired: () => sealing({ ...done, 410: { description: "Gone" } }),
  },
  {
    name: "a rule with a separate status, where hooks refuse other operations only",
    expected: { code: "undeclared-status", caller: "user", way: "updatePost" },
    faulty: () => ruled({ beforeCreate: refuseLong, beforeRestore: refuseLong, afterUpdate() {} }),
    repaired: () => ruled({ beforeUpdate: refuseLong }),
  },
];

type Twins = Pick<Seeded, "faulty" | "repaired">;
interface Event {
  readonly call: {
    readonly sent?: Readonly<Record<string, unknown>> | undefined;
    readonly user: { readonly id: string } | undefined;
  };
  readonly fields: Readonly<Record<string, unknown>>;
}

function refuseLong({ fields }: Event): void {
  if (String(fields["text"]).length > 1000) throw new Problem(413, { detail: "too long" });
}

/** A route below the path of posts, which have a hook for creations. */
function sealing(responses: Parameters<typeof defineRoute>[0]["responses"]) {
  const route = defineRoute({
    ...about,
    method: "POST",
    path: "/posts/:id/seal",
    operation: "sealPost",
    access: "user",
    responses,
    async handle({ params, store }) {
      if (!(await store.collection(post.collection).get(params["id"] ?? ""))) throw notFound();
      throw new Problem(410);
    },
  });
  const hooked = defineResource({ ...base, hooks: { beforeCreate: refuseLong } });
  return serviceOf(resourceRoutes(hooked), route);
}

/** Posts whose rule for updates refuses with a status that no operation declares. */
function ruled(hooks: object) {
  const update = ({ user }: Pick<Event["call"], "user">): boolean => {
    if (user?.id === "bob") throw new Problem(418);
    return user !== undefined;
  };
  const options = { ...base, access: { ...base.access, update: update as never } };
  return serviceOf(resourceRoutes(defineResource({ ...options, hooks })));
}

interface Hooks {
  readonly beforeCreate?: (event: Event) => object | void;
  readonly beforeUpdate?: (event: Event) => object | void;
}

function ofHooks(wrong: Hooks, right: Hooks): Twins {
  const of = (hooks: Hooks) => () =>
    serviceOf(resourceRoutes(defineResource({ ...base, hooks: hooks as never })));
  return { faulty: of(wrong), repaired: of(right) };
}

function ofVote(): Twins {
  const vote = defineResource({
    name: "vote",
    path: "/votes",
    schema: z.object({ text: z.string(), seed: z.string().optional() }),
    fields: { seed: "nobody" },
    owner: "author",
    access: { list: "public", show: "public", create: "user" },
  });
  const of = (isRaw: boolean) => () =>
    serviceOf(
      resourceRoutes(vote, {
        ...createResourceController(vote),
        create: async (call) => {
          const { text } = z.object({ text: z.string() }).parse(call.body);
          const author = call.user?.id;
          const fields = { text, author, seed: "zq999999xv" } as never;
          const made = await call.store.collection(vote.collection).insert(fields);
          return json(isRaw ? made : vote.present(made, call), { status: 201 });
        },
      }),
    );
  return { faulty: of(true), repaired: of(false) };
}

function ofRoute(
  place: { readonly method: "POST" | "PUT"; readonly path: string; readonly operation: string },
  what: "drop" | "publish",
): Twins {
  const of = (isChecked: boolean) => () => {
    const route = defineRoute({
      ...about,
      ...place,
      access: "user",
      responses: done,
      async handle({ params, store, user }) {
        const posts = store.collection(post.collection);
        const found = await posts.get(params["id"] ?? "");
        if (!found) throw notFound();
        if (isChecked) requireOwner(user, found.author);
        if (what === "drop") await posts.remove(found.id);
        else await posts.update(found.id, { state: "published" });
        return empty();
      },
    });
    return serviceOf(plain, route);
  };
  return { faulty: of(false), repaired: of(true) };
}

function ofImport(): Twins {
  const of = (access: "public" | "user") => () => {
    const route = defineRoute({
      ...about,
      method: "POST",
      path: "/imports",
      operation: "importPost",
      access,
      body: z.object({ text: z.string() }),
      responses: done,
      async handle({ body, store }) {
        const fields = { text: body.text, state: "draft", code: "c", author: "ada" };
        await store.collection(post.collection).insert(fields);
        return empty();
      },
    });
    return serviceOf(plain, route);
  };
  return { faulty: of("public"), repaired: of("user") };
}

function ofBody(): Twins {
  const of = (isChecked: boolean) => () => {
    const route = defineRoute({
      ...about,
      method: "POST",
      path: "/closings",
      operation: "closePost",
      access: "user",
      body: z.object({ postId: z.string() }),
      responses: done,
      async handle({ body, store, user }) {
        const posts = store.collection(post.collection);
        const found = await posts.get(body.postId);
        if (!found) throw notFound();
        if (isChecked) requireOwner(user, found.author);
        await posts.update(found.id, { state: "closed" });
        return empty();
      },
    });
    return serviceOf(plain, route);
  };
  return { faulty: of(false), repaired: of(true) };
}

/** Posts that nobody but admins sees while they are locked, which all are here. */
function ofHidden(forgotten: "beforeRemove" | "beforeUpdate"): Twins {
  const refuse = ({
    call,
  }: {
    readonly call: { readonly user: { readonly role: string } | undefined };
  }) => {
    if (call.user?.role !== "admin") throw new Problem(403, { detail: "locked" });
  };
  const all = {
    beforeShow: refuse,
    beforeList: refuse,
    beforeUpdate: refuse,
    beforeRemove: refuse,
  };
  const of = (hooks: Partial<typeof all>) => () =>
    serviceOf(resourceRoutes(defineResource({ ...base, hooks })));
  return { faulty: of({ ...all, [forgotten]: undefined }), repaired: of(all) };
}

function words(count: (body: Readonly<Record<string, unknown>>) => number) {
  const route = defineRoute({
    ...about,
    method: "POST",
    path: "/words",
    operation: "countWords",
    access: "public",
    responses: { 200: { description: "Words" } },
    handle: ({ body }) => json({ count: count(body) }),
  });
  return serviceOf(plain, route);
}

function teapot(responses: Readonly<Record<number, { readonly description: string }>>) {
  const route = defineRoute({
    ...about,
    method: "GET",
    path: "/teapot",
    operation: "showTeapot",
    access: "public",
    responses,
    handle: () => json({}, { status: 418 }),
  });
  return serviceOf(plain, route);
}

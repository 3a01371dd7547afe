import { json } from "@fetchwork/http";
import {
  createResourceController,
  defineResource,
  defineRoute,
  listParameter,
  Problem,
  resourceRoutes,
  type Route,
} from "@fetchwork/rest";
import { requireOwner, notFound } from "@fetchwork/rest/handlers";
import { z } from "zod";
import { people } from "./seeded-people.ts";
import { about, allOf, type Seeded, serviceOf, staffOptions, user } from "./seeded.ts";

const schema = z.object({ name: z.string(), salary: z.number() });
const staff = defineResource({ ...staffOptions, schema });
const staffRoutes = resourceRoutes(staff);
const ok = { 200: { description: "Done" } } as const;

const diary = defineResource({
  name: "diary",
  path: "/diaries",
  schema: z.object({ text: z.string() }),
  owner: "author",
  access: { list: "owner", show: "owner", create: "user", update: "owner", remove: "owner" },
});

const note = {
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string(), mood: z.string(), score: z.string().optional() }),
  fields: { score: "nobody" },
  owner: "author",
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
} as const;
const scored = {
  beforeCreate: <T>({ fields }: { readonly fields: T }) => ({ ...fields, score: "some score" }),
};

/** Faults by which callers read or learn of what they may not see. */
export const readFaults: readonly Seeded[] = [
  {
    name: "a route of one's own that shows documents as they are stored",
    expected: {
      code: "field-read",
      resource: "staff",
      field: "salary",
      caller: "anonymous",
      way: "listPayroll",
    },
    faulty: () => {
      const payroll = defineRoute({
        ...about,
        method: "GET",
        path: "/payroll",
        operation: "listPayroll",
        access: "public",
        responses: ok,
        handle: async (call) => json(await allOf(call, staff)),
      });
      return serviceOf(staffRoutes, payroll);
    },
    repaired: () => {
      const payroll = defineRoute({
        ...about,
        method: "GET",
        path: "/payroll",
        operation: "listPayroll",
        access: "public",
        responses: ok,
        handle: async (call) =>
          json((await allOf(call, staff)).map((one) => staff.present(one, call as never))),
      });
      return serviceOf(staffRoutes, payroll);
    },
  },
  {
    name: "a report for users that has the values of others under other names",
    expected: {
      code: "field-read",
      resource: "staff",
      field: "salary",
      caller: "user",
      way: "showCosts",
    },
    ...ofRoutes(
      (access) =>
        defineRoute({
          ...about,
          method: "GET",
          path: "/costs",
          operation: "showCosts",
          access,
          responses: ok,
          handle: async (call) =>
            json((await allOf(call, staff)).map((one) => ({ cost: one["salary"] }))),
        }),
      "user",
      "admin",
    ),
  },
  {
    name: "a route with an identifier that does not ask who owns the document",
    expected: {
      code: "field-read",
      resource: "diary",
      field: "text",
      caller: "user",
      way: "printDiary",
    },
    ...ofDiary(false, true),
  },
  {
    name: "a list handler of one's own that shows raw documents",
    expected: {
      code: "field-read",
      resource: "staff",
      field: "salary",
      caller: "anonymous",
      way: "list",
    },
    faulty: () =>
      serviceOf(
        resourceRoutes(staff, {
          ...createResourceController(staff),
          list: async (call) => json(await allOf(call, staff)),
        }),
      ),
    repaired: () => serviceOf(staffRoutes),
  },
  {
    name: "a show handler of one's own that shows the raw document",
    expected: {
      code: "field-read",
      resource: "staff",
      field: "salary",
      caller: "user",
      way: "show",
    },
    faulty: () =>
      serviceOf(
        resourceRoutes(staff, {
          ...createResourceController(staff),
          show: async ({ params, store }) => {
            const found = await store.collection(staff.collection).get(params["id"] ?? "");
            if (!found) throw notFound();
            return json(found);
          },
        }),
      ),
    repaired: () => serviceOf(staffRoutes),
  },
  {
    name: "a list handler of one's own that forgets the rule owner",
    expected: { code: "field-read", resource: "diary", field: "text", caller: "user", way: "list" },
    faulty: () =>
      serviceOf(
        resourceRoutes(diary, {
          ...createResourceController(diary),
          list: async (call) =>
            json((await allOf(call, diary)).map((one) => diary.present(one, call))),
        }),
      ),
    repaired: () => serviceOf(resourceRoutes(diary)),
  },
  {
    name: "a hook after show that adds a field",
    expected: {
      code: "field-read",
      resource: "staff",
      field: "salary",
      caller: "anonymous",
      way: "show",
    },
    faulty: () =>
      serviceOf(
        resourceRoutes(
          defineResource({
            ...staffOptions,
            schema,
            hooks: { afterShow: ({ document, shown }) => ({ ...shown, pay: document.salary }) },
          }),
        ),
      ),
    repaired: () =>
      serviceOf(
        resourceRoutes(
          defineResource({
            ...staffOptions,
            schema,
            hooks: {
              afterShow: ({ document, shown }) => ({ ...shown, isPaid: document.salary > 0 }),
            },
          }),
        ),
      ),
  },
  {
    name: "a hook after list that adds a field",
    expected: {
      code: "field-read",
      resource: "staff",
      field: "salary",
      caller: "user",
      way: "list",
    },
    faulty: () =>
      serviceOf(
        resourceRoutes(
          defineResource({
            ...staffOptions,
            schema,
            hooks: {
              afterList: ({ documents, rows }) =>
                rows.map((row, index) => ({ ...row, salary: documents[index]?.salary })),
            },
          }),
        ),
      ),
    repaired: () => serviceOf(staffRoutes),
  },
  {
    name: "a computed field that is made of a field with a rule",
    expected: {
      code: "field-read",
      resource: "staff",
      field: "salary",
      caller: "anonymous",
      way: "list",
    },
    ...ofComputed(
      ({ salary }) => `earns ${salary}`,
      ({ name }) => `is ${name}`,
    ),
  },
  {
    name: "a computed field that shows what hooks have stored",
    expected: {
      code: "field-read",
      resource: "note",
      field: "score",
      caller: "anonymous",
      way: "show",
    },
    faulty: () =>
      serviceOf(
        resourceRoutes(
          defineResource({
            ...note,
            hooks: scored,
            computed: {
              rank: {
                schema: z.string(),
                value: (one: object) => String(Reflect.get(one, "score")),
              },
            },
          }),
        ),
      ),
    repaired: () => serviceOf(resourceRoutes(defineResource({ ...note, hooks: scored }))),
  },
  {
    name: "a route that joins users by hand",
    expected: {
      code: "field-read",
      resource: "user",
      field: "email",
      caller: "anonymous",
      way: "listBosses",
    },
    faulty: () => bosses((boss) => ({ ...boss, passwordHash: undefined })),
    repaired: () => bosses((boss) => ({ id: boss["id"], name: boss["name"] })),
  },
  {
    name: "a refusal that repeats a value",
    expected: {
      code: "field-read",
      resource: "staff",
      field: "salary",
      caller: "anonymous",
      way: "checkStaff",
    },
    faulty: () => refusing(({ salary }) => `the salary is ${String(salary)}`),
    repaired: () => refusing(() => "the salary is too low"),
  },
  {
    name: "a route of a resource whose access was widened",
    expected: {
      code: "field-read",
      resource: "diary",
      field: "text",
      caller: "anonymous",
      way: "list",
    },
    faulty: () => {
      const secret = defineResource({ ...diaryOptions, access: { create: "user" } });
      return serviceOf(
        resourceRoutes(secret).map((route) => ({ ...route, access: "public" as const })),
      );
    },
    repaired: () =>
      serviceOf(resourceRoutes(defineResource({ ...diaryOptions, access: { create: "user" } }))),
  },
  {
    name: "a token that everyone sees",
    expected: {
      code: "secret-name",
      resource: "device",
      field: "accessToken",
      caller: "anonymous",
    },
    ...ofDevice("public", "nobody"),
  },
  {
    name: "a list parameter of one's own that compares a hidden number",
    expected: {
      code: "field-inferred",
      resource: "staff",
      field: "salary",
      caller: "anonymous",
      way: "parameter earns",
    },
    faulty: () =>
      serviceOf(
        resourceRoutes(
          defineResource({
            ...staffOptions,
            schema,
            list: {
              parameters: {
                earns: listParameter({
                  schema: z.number(),
                  where: (least) => ({ salary: { gte: least } }),
                }),
              },
            },
          }),
        ),
      ),
    repaired: () =>
      serviceOf(
        resourceRoutes(
          defineResource({
            ...staffOptions,
            schema,
            list: {
              parameters: {
                called: listParameter({ schema: z.string(), where: (name) => ({ name }) }),
              },
            },
          }),
        ),
      ),
  },
  {
    name: "a route that tells who has an email",
    expected: {
      code: "field-inferred",
      resource: "user",
      field: "email",
      caller: "anonymous",
      way: "findPeople",
    },
    faulty: () => people("email"),
    repaired: () => people("name"),
  },
  {
    name: "a hook that refuses to show a document, and none for lists",
    expected: { code: "hook-gap", resource: "note", caller: "anonymous", way: "list" },
    faulty: () =>
      serviceOf(resourceRoutes(defineResource({ ...note, hooks: { beforeShow: refuseNobody } }))),
    repaired: () =>
      serviceOf(
        resourceRoutes(
          defineResource({
            ...note,
            hooks: { beforeShow: refuseNobody, beforeList: refuseNobody },
          }),
        ),
      ),
  },
  {
    name: "a filter of lists, and no hook for single documents",
    expected: { code: "hook-gap", resource: "note", caller: "user", way: "show" },
    faulty: () =>
      serviceOf(
        resourceRoutes(
          defineResource({
            ...note,
            hooks: { beforeList: ({ call }) => ({ author: call.user?.id ?? "" }) },
          }),
        ),
      ),
    repaired: () => serviceOf(resourceRoutes(defineResource(note))),
  },
];

const diaryOptions = {
  name: "diary",
  path: "/diaries",
  schema: z.object({ text: z.string() }),
  owner: "author",
} as const;

function refuseNobody({ call }: { readonly call: { readonly user: unknown } }): void {
  if (call.user === undefined) throw new Problem(403, { detail: "only for users" });
}

function ofRoutes(
  route: (access: "admin" | "user") => Route,
  wide: "user",
  narrow: "admin",
): Pick<Seeded, "faulty" | "repaired"> {
  return {
    faulty: () => serviceOf(staffRoutes, route(wide)),
    repaired: () => serviceOf(staffRoutes, route(narrow)),
  };
}

function ofDiary(...checks: readonly [boolean, boolean]): Pick<Seeded, "faulty" | "repaired"> {
  const [faulty, repaired] = checks.map((isChecked) => () => {
    const print = defineRoute({
      ...about,
      method: "GET",
      path: "/diaries/:id/print",
      operation: "printDiary",
      access: "user",
      responses: { ...ok, 404: { description: "None" } },
      async handle({ params, store, user }) {
        const found = await store.collection(diary.collection).get(params["id"] ?? "");
        if (!found) throw notFound();
        if (isChecked) requireOwner(user, found.author);
        return json({ page: found.text });
      },
    });
    return serviceOf(resourceRoutes(diary), print);
  });
  return { faulty, repaired } as Pick<Seeded, "faulty" | "repaired">;
}

type Value = (one: { readonly name: string; readonly salary: number }) => string;

function ofComputed(...values: readonly [Value, Value]): Pick<Seeded, "faulty" | "repaired"> {
  const [faulty, repaired] = values.map((value) => () => {
    const line = { schema: z.string(), value };
    return serviceOf(
      resourceRoutes(defineResource({ ...staffOptions, schema, computed: { line } })),
    );
  });
  return { faulty, repaired } as Pick<Seeded, "faulty" | "repaired">;
}

function ofDevice(...readers: readonly ["public", "nobody"]): Pick<Seeded, "faulty" | "repaired"> {
  const [faulty, repaired] = readers.map(
    (read) => () =>
      serviceOf(
        resourceRoutes(
          defineResource({
            name: "device",
            path: "/devices",
            fields: { accessToken: { read } },
            schema: z.object({ accessToken: z.string() }),
            access: { list: "public", show: "public", create: "user" },
          }),
        ),
      ),
  );
  return { faulty, repaired } as Pick<Seeded, "faulty" | "repaired">;
}

function bosses(show: (boss: Readonly<Record<string, unknown>>) => object) {
  const route = defineRoute({
    ...about,
    method: "GET",
    path: "/bosses",
    operation: "listBosses",
    access: "public",
    responses: ok,
    async handle({ store }) {
      const users = await store.collection(user.collection).find();
      return json(users.map((one) => show({ ...one })));
    },
  });
  return serviceOf(staffRoutes, route);
}

function refusing(detail: (one: Readonly<Record<string, unknown>>) => string) {
  const route = defineRoute({
    ...about,
    method: "GET",
    path: "/staff/:id/check",
    operation: "checkStaff",
    access: "public",
    responses: { ...ok, 409: { description: "Too low" }, 404: { description: "None" } },
    async handle({ params, store }) {
      const found = await store.collection(staff.collection).get(params["id"] ?? "");
      if (!found) throw notFound();
      throw new Problem(409, { detail: detail({ ...found }) });
    },
  });
  return serviceOf(staffRoutes, route);
}

import { empty, json } from "@fetchwork/http";
import {
  type AccessFunction,
  defineResource,
  type ResourceHooks,
  resourceRoutes,
  type Route,
} from "@fetchwork/rest";
import { notFound } from "@fetchwork/rest/handlers";
import { expect, it } from "vitest";
import { z } from "zod";
import { verifyService } from "../src/index.ts";
import { routeOf } from "./other-hand.ts";
import { serviceOf, user } from "./seeded.ts";

const options = {
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string().min(1), state: z.enum(["open", "done"]) }),
  owner: "owner",
} as const;

const { collection: notes } = defineResource({ ...options, access: { list: "user" } });

const isOwn: AccessFunction = ({ caller, document }) =>
  caller?.role === "admin" || (caller !== undefined && document?.["owner"] === caller.id);
const throwsUnlessOwn: AccessFunction = async (call) => (await isOwn(call)) || refuse();
const isOpen: AccessFunction = ({ caller, document }) =>
  caller !== undefined && document?.["state"] === "open";
const isAny: AccessFunction = ({ caller, document }) =>
  caller !== undefined && document?.["state"] !== "unknown";

const listsOwn: ResourceHooks<never> = {
  beforeList: ({ call: { user: caller } }) =>
    caller?.role === "admin" ? undefined : { owner: caller?.id ?? "" },
};
const showsOwn: ResourceHooks<never> = {
  ...listsOwn,
  async beforeShow({ call, id }) {
    const document = await call.store.collection(notes).get(id);
    if (call.user?.role !== "admin" && document?.owner !== call.user?.id) refuse();
  },
};

function refuse(): never {
  throw notFound();
}

/** Notes, with routes of one's own that ask nothing. */
function notesOf(
  rule: AccessFunction | "owner" | "user",
  hooks: ResourceHooks<never>,
  change: AccessFunction | "owner" = rule === "user" ? "owner" : rule,
): readonly (Route | readonly Route[])[] {
  const list = rule === "owner" ? "owner" : "user";
  const access = { list, show: rule, create: "user", update: change, remove: change } as const;
  const note = defineResource({ ...options, access, hooks });
  const { collection } = note;
  const read = { path: "/notes/:id/text", operation: "showText" };
  const wipe = { method: "POST", path: "/notes/:id/wipe", operation: "wipe" } as const;
  const drop = { method: "POST", path: "/notes/:id/drop", operation: "drop" } as const;
  return [
    resourceRoutes(note),
    routeOf(read, async ({ params, store }) => {
      const found = await store.collection(collection).get(params["id"] ?? "");
      return json({ text: found?.["text"] });
    }),
    routeOf(wipe, async ({ params, store }) => {
      await store.collection(collection).update(params["id"] ?? "", { text: "gone" });
      return empty();
    }),
    routeOf(drop, async ({ params, store }) => {
      await store.collection(collection).remove(params["id"] ?? "");
      return empty();
    }),
  ];
}

async function findingsOf(
  ...routes: readonly (Route | readonly Route[])[]
): Promise<readonly string[]> {
  const { findings } = await verifyService(serviceOf(...routes));
  return findings.map(({ caller, code, way }) => `${code} ${caller} ${way}`).toSorted();
}

const ofOthers = [
  "document-written user drop",
  "document-written user wipe",
  "field-read key showText",
  "field-read user showText",
];

it.each([
  ["a rule by name", notesOf("owner", {})],
  ["a function of the same meaning", notesOf(isOwn, listsOwn)],
  ["a function that throws", notesOf(throwsUnlessOwn, listsOwn)],
  ["a hook before documents are shown", notesOf("user", showsOwn)],
])("verifyService() finds own routes that ask nothing of %s", async (_, routes) => {
  expect(await findingsOf(...routes)).toEqual(ofOthers);
});

it("verifyService() finds nothing in own routes where functions let everyone pass", async () => {
  expect(await findingsOf(...notesOf(isAny, {}))).toEqual([]);
});

it("verifyService() finds what a function refuses of documents in another state", async () => {
  const lists = ["admin", "key", "owner", "user"].map((caller) => `hook-gap ${caller} list`);
  const found = [...ofOthers.slice(0, 2), ...lists];
  expect(await findingsOf(...notesOf(isOpen, {}))).toEqual(found);
});

it("verifyService() asks the function for changes where another one shows everything", async () => {
  expect(await findingsOf(...notesOf(isAny, {}, isOwn))).toEqual(ofOthers.slice(0, 2));
});

it.each([
  ["finds an own route that does not ask for the members of a team", false],
  ["finds nothing in one that does", true],
])("verifyService() %s", async (_, isAsked) => {
  const team = defineResource({
    name: "team",
    path: "/teams",
    schema: z.object({ name: z.string() }),
    access: { show: "public", create: "user" },
  });
  const membership = defineResource({
    name: "membership",
    path: "/memberships",
    schema: z.object({ team: z.string(), member: z.string() }),
    access: { create: "admin" },
    relations: { team: { to: () => team }, member: { to: () => user } },
  });
  const isMember: AccessFunction = async ({ caller, document, store }) => {
    if (caller?.role === "admin") return true;
    const where = { team: String(document?.["team"]), member: caller?.id ?? "" };
    return (await store.collection(membership.collection).count({ where })) > 0;
  };
  const task = defineResource({
    name: "task",
    path: "/tasks",
    schema: z.object({ team: z.string(), title: z.string() }),
    access: { show: isMember, create: "user", update: isMember },
    relations: { team: { to: () => team } },
  });
  const place = { method: "POST", path: "/tasks/:id/title", operation: "retitle" } as const;
  const retitle = routeOf(place, async ({ params, store, user: caller }) => {
    const tasks = store.collection(task.collection);
    const found = (await tasks.get(params["id"] ?? "")) ?? refuse();
    const where = { team: found.team, member: caller?.id ?? "" };
    const isHeld = (await store.collection(membership.collection).count({ where })) > 0;
    if (isAsked && !isHeld && caller?.role !== "admin") refuse();
    await tasks.update(found.id, { title: "another" });
    return json({ before: found.title });
  });
  const resources = [resourceRoutes(team), resourceRoutes(membership), resourceRoutes(task)];
  const findings = await findingsOf(...resources, retitle);
  const found = isAsked ? [] : ["document-written user retitle", "field-read user retitle"];
  expect(findings).toEqual(found);
});

it("verifyService() finds documents that nobody creates against a function", async () => {
  const create: AccessFunction = ({ caller }) => caller !== undefined;
  const access = { list: "public", show: "public", create } as const;
  const note = defineResource({ ...options, access });
  const { collection } = note;
  const place = { method: "POST", path: "/imports", operation: "importNote" } as const;
  const importNote = routeOf({ ...place, access: "public" }, async ({ store }) => {
    await store.collection(collection).insert({ text: "imported", state: "open" });
    return empty();
  });
  const found = ["document-written anonymous importNote", "document-written key importNote"];
  expect(await findingsOf(resourceRoutes(note), importNote)).toEqual(found);
});

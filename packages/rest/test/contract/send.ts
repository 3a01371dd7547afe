import type { Store } from "@fetchwork/documents";
import { createContext } from "@fetchwork/http";
import type { Api } from "../../src/http/api.ts";
import type { RequestPlan } from "./requests.ts";
import { type Caller, collections } from "./whole-api.ts";

/** What a plan is sent with. */
export interface Sender {
  readonly api: Api;
  readonly callers: readonly Caller[];
  /** Identifiers of documents that are, or were, there, by path; those of answers come to them. */
  readonly ids: Map<string, string[]>;
}

/** Sends a request and reads the answer. `undefined` for one that no client could send. */
export async function sendPlan(
  { api, callers, ids }: Sender,
  plan: RequestPlan,
): Promise<{ readonly response: Response; readonly text: string } | undefined> {
  const own = poolOf(plan.path);
  const real = (text: string, field = ""): string =>
    text.replace(/^@(\d+)$/, (_, index: string) => {
      const pool = ids.get(referred[field] ?? own) ?? [];
      return pool[Number(index) % pool.length] ?? "none";
    });
  const path = plan.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(real(plan.params[name] ?? "x").toWellFormed()),
  );
  const query = new URLSearchParams(plan.query.map(([name, value]) => [name, real(value)]));
  const { authorization, queryToken } = callers[plan.caller] ?? {};
  if (queryToken !== undefined) query.set("access_token", queryToken);
  const isForm = plan.type?.startsWith("application/x-www-form") === true;
  const json = JSON.stringify(plan.body, (field, value: unknown) =>
    typeof value === "string" ? real(value, field) : value,
  ) as string | undefined;
  // These make another path.
  if (Object.values(plan.params).some((value) => ["", ".", ".."].includes(real(value))))
    return undefined;
  let request: Request;
  try {
    request = new Request(`http://localhost${path}?${query}`, {
      method: plan.method,
      headers: {
        ...plan.headers,
        ...(authorization === undefined ? {} : { authorization }),
        ...(plan.type === undefined ? {} : { "content-type": plan.type }),
      },
      body: json === undefined || plan.method === "GET" ? null : isForm ? formOf(json) : json,
    });
  } catch {
    return undefined;
  }
  const response = await api.handler(request, createContext(request));
  const text = await response.text();
  for (const [, id = ""] of text.matchAll(/"id":"([^"]+)"/g)) {
    const pool = ids.get(own) ?? [];
    if (pool.length >= 20) pool.shift();
    if (!pool.includes(id)) pool.push(id);
    ids.set(own, pool);
  }
  return { response, text };
}

/**
 * Makes the store what it was in the beginning: a document or two of each kind, one of them
 * removed. Every second time there is a note, which keeps others from being deleted.
 */
export async function reset(sender: Sender, store: Store, turn: number): Promise<void> {
  for (const one of collections) {
    const documents = store.collection(one as (typeof collections)[0]);
    await documents.removeMany({ where: {} });
    if (one.softDelete === true) await documents.purgeMany();
  }
  const send = async (method: string, path: string, body?: object): Promise<void> => {
    const caller = path === "/vaults" ? 3 : turn % 3;
    const plan = { method, path, caller, params: { id: "@0" }, query: [], headers: {} };
    await sendPlan(sender, { ...plan, type: body && "application/json", body });
  };
  sender.ids.clear();
  await send("POST", "/people", { name: "Removed" });
  await send("DELETE", "/people/{id}");
  const removed = sender.ids.get("/people") ?? [];
  sender.ids.clear();
  await send("POST", "/people", { name: "Ann" });
  await send("POST", "/blog/articles", { title: "Seed", author: "@0" });
  if (turn % 2 === 0) await send("POST", "/notes", { text: "seed", article: "@0" });
  await send("POST", "/vaults", { key: "seed" });
  sender.ids.get("/people")?.push(...removed);
}

/** Where the fields lead that refer to documents. */
const referred: Readonly<Record<string, string>> = {
  article: "/blog/articles",
  author: "/people",
  reviewer: "/people",
};

function poolOf(path: string): string {
  return path.replace(/\/(?:\{|bulk).*$/, "");
}

function formOf(json: string): string {
  const value: unknown = JSON.parse(json);
  if (typeof value !== "object" || value === null) return json;
  const texts = Object.entries(value).map(([name, one]): [string, string] => [
    name,
    typeof one === "string" ? one : JSON.stringify(one),
  ]);
  return new URLSearchParams(texts).toString();
}

/** Everything that is stored, as text. */
export async function snapshot(store: Store): Promise<string> {
  const all = await Promise.all(
    collections.map((definition) =>
      store.collection(definition as (typeof collections)[0]).find({
        sort: ["id"],
        ...(definition.softDelete === true ? { deleted: "include" } : {}),
      }),
    ),
  );
  return JSON.stringify(all);
}

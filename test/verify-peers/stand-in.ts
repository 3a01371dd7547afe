import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Api, Caller, Collection, Dialect } from "../../scripts/verify-peers/api.ts";

/** A fault that the stand-in has on purpose. */
export const leaks = [
  "shows the secret field in a list",
  "shows the hash of the password",
  "shows kept notes by a parameter",
  "shows the author with the email",
  "filters by the secret field",
  "filters by the beginning of the hash",
  "filters by the email of the author",
  "sorts by the secret field",
  "takes changes of others",
  "takes the owner from the body of a change",
  "takes the owner from the body of a creation",
  "takes notes of nobody",
  "removes notes of others",
  "fails for an identifier",
  "ends the connection for a body",
] as const;
export type Leak = (typeof leaks)[number];

type Note = Record<string, unknown>;

const emails: Readonly<Record<string, string>> = {
  ada: "zq700001xv@example.com",
  bob: "zq700002xv@example.com",
};
const hashes: Readonly<Record<string, string>> = { ada: "$2b$10$x", bob: "$2b$10$y" };

/** A server of notes, whose secrets only their owners read. */
export interface StandIn extends AsyncDisposable {
  readonly api: Api;
}

/** Starts a server of notes on a separate port. */
export async function startStandIn(leak?: Leak): Promise<StandIn> {
  const notes = new Map<string, Note>();
  let made = 0;
  const add = (fields: Note): Note => {
    made += 1;
    const note = { id: String(made), ...fields };
    notes.set(note.id, note);
    return note;
  };
  const planted = ["ada", "bob"].flatMap((owner, index) => [
    add({ owner, title: `zq70001${index}xv`, secret: `zq70002${index}xv` }),
    add({ owner, title: `zq70003${index}xv`, secret: `zq70004${index}xv`, kept: true }),
  ]);
  const server = createServer((request, response) => {
    void handle(request).then(
      ([status, body]) => {
        if (status === 0) return request.socket.destroy();
        return response.writeHead(status).end(body === undefined ? "" : JSON.stringify(body));
      },
      () => response.writeHead(400).end(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    api: {
      url,
      callers: ["anonymous", "ada", "bob"].map(callerOf),
      collections: [collectionOf(planted)],
      dialect,
      observe(_, id) {
        const note = notes.get(id);
        return Promise.resolve(note && { ...note });
      },
      plant(_, owner) {
        const { id } = add({ owner, title: "x", secret: "x" });
        return Promise.resolve({ id: String(id), owner, values: {} });
      },
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };

  async function handle(request: IncomingMessage): Promise<readonly [number, unknown?]> {
    const { pathname, searchParams } = new URL(request.url ?? "", url);
    const user = String(request.headers["x-user"] ?? "");
    const id = pathname.split("/")[2];
    const note = notes.get(id ?? "");
    if (request.method === "GET") {
      if (id === "__proto__" && leak === "fails for an identifier") return [500];
      if (id === undefined) return [200, list(user, searchParams)];
      return note && !isKept(note, user, searchParams) ? [200, shown(note, user, id)] : [404];
    }
    if (request.method === "DELETE") {
      const isAllowed = note?.["owner"] === user || (user && leak === "removes notes of others");
      return isAllowed && id !== undefined && notes.delete(id) ? [204] : [403];
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    if (text === "[]" && leak === "ends the connection for a body") return [0];
    const body = JSON.parse(text) as unknown;
    if (typeof body !== "object" || body === null || Array.isArray(body)) return [400];
    return request.method === "POST" ? create(user, body) : change(user, note, body);
  }

  function create(user: string, body: object): readonly [number, unknown?] {
    if (user === "" && leak !== "takes notes of nobody") return [401];
    const isTaken = leak === "takes the owner from the body of a creation";
    const taken = pick(body, ["title", "secret", ...(isTaken ? ["owner"] : [])]);
    return [201, { id: add({ owner: user, ...taken })["id"] }];
  }

  function change(user: string, note: Note | undefined, body: object): readonly [number, unknown?] {
    if (note === undefined) return [404];
    const isAllowed = note["owner"] === user || (user && leak === "takes changes of others");
    if (!isAllowed) return [403];
    const isTaken = leak === "takes the owner from the body of a change";
    Object.assign(note, pick(body, ["title", "secret", ...(isTaken ? ["owner"] : [])]));
    return [200, {}];
  }

  function isKept(note: Note, user: string, query: URLSearchParams): boolean {
    const isOpen = query.has("all") && leak === "shows kept notes by a parameter";
    return note["kept"] === true && note["owner"] !== user && !isOpen;
  }

  function shown(note: Note, user: string, id?: string): Note {
    const { id: own, owner, secret, title } = note;
    const isOwner = owner === user;
    const author = String(owner);
    return {
      id: own,
      owner,
      title,
      ...(isOwner || (id === undefined && leak === leaks[0]) ? { secret } : {}),
      ...(leak === "shows the hash of the password" ? { hash: hashes[author] } : {}),
      ...(leak === "shows the author with the email" ? { author: emails[author] } : {}),
    };
  }

  function list(user: string, query: URLSearchParams): readonly Note[] {
    const found = [...notes.values()].filter(
      (note) => !isKept(note, user, query) && [...query].every((pair) => fits(note, pair)),
    );
    const order = query.get("sort");
    if (order?.endsWith("secret") === true && leak === "sorts by the secret field") {
      found.sort((one, other) => (String(one["secret"]) < String(other["secret"]) ? -1 : 1));
      if (order.startsWith("-")) found.reverse();
    }
    return found.map((note) => shown(note, user));
  }

  function fits(note: Note, [name, value]: readonly [string, string]): boolean {
    const author = String(note["owner"]);
    if (name === "title") return note["title"] === value;
    if (name === "secret" && leak === "filters by the secret field")
      return note["secret"] === value;
    if (name === "begins.hash" && leak === "filters by the beginning of the hash") {
      return hashes[author]?.startsWith(value) === true;
    }
    if (name === "author.email" && leak === "filters by the email of the author") {
      return emails[author] === value;
    }
    return true;
  }
}

function pick(body: object, names: readonly string[]): Note {
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));
}

function callerOf(name: string): Caller {
  return { name, headers: name === "anonymous" ? {} : { "x-user": name } };
}

function collectionOf(notes: readonly Note[]): Collection {
  return {
    name: "note",
    path: "/notes",
    documents: notes.map(({ id, kept, owner, secret, title }) => ({
      id: String(id),
      owner: String(owner),
      isKept: kept === true,
      values: {
        title: String(title),
        secret: String(secret),
        "author.email": emails[String(owner)] ?? "",
      },
      beginnings: { hash: "$2" },
    })),
    relations: {},
    attacks: { title: (one) => `zq${one}xv`, secret: (one) => `zq${one}xv`, owner: () => "eve" },
    sample: (one) => ({ title: `zq${one}xv` }),
    mayRead: (kind, field, { isKept = false }) =>
      kind === "owner" ? field !== "hash" : field === "title" && !isKept,
    mayWrite: (kind, field) => kind === "owner" && field !== "owner",
    mayCreate: (caller) => caller !== "anonymous",
    mayRemove: (kind) => kind === "owner",
  };
}

const dialect: Dialect = {
  asks: (path, value, other) => [
    { way: "filter", one: `${path}=${value}`, other: `${path}=${other}` },
  ],
  beginningAsks: (path, one, other) => [
    { way: "filter", one: `begins.${path}=${one}`, other: `begins.${path}=${other}` },
  ],
  order: (path) => ({ way: "sort", one: `sort=${path}`, other: `sort=-${path}` }),
  shows: () => ["all=true"],
  hostileQueries: (field) => [`${field}=%00`],
  body: (fields) => fields,
  idOf: (json) => (json as { readonly id?: string } | undefined)?.id,
  updateMethod: "PATCH",
};

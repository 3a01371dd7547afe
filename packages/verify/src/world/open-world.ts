import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store, type StoreOptions } from "@fetchwork/documents";
import { type Handler, runHandler } from "@fetchwork/http";
import type { Fields, JsonSchema, OpenApiDocument, Resource, Route } from "@fetchwork/rest";
import type { Service } from "@fetchwork/service";
import { VerifyError } from "../errors.ts";
import { canaryLike, canaryOf } from "./canary.ts";
import type { Caller } from "./caller.ts";
import { openFragile } from "./open-fragile.ts";
import { Garden, type Planted } from "./planted.ts";
import { requestOf } from "./sender.ts";
import { type Ending, SecondProcess } from "./second-process.ts";

/** A service in memory, with callers and documents of several owners. */
export interface World extends AsyncDisposable {
  readonly service: Service;
  readonly store: Store;
  /** A process on the same documents that ends: a second one that is killed, or this one as if it was. */
  readonly ending: Ending;
  readonly handler: Handler;
  readonly openApi: OpenApiDocument;
  /** Routes of the project that belong to no operation of a resource. */
  readonly ownRoutes: readonly Route[];
  readonly callers: readonly Caller[];
  readonly garden: Garden;
  /** Fields that documents have in the store in addition to those of the schema, as far as creations store them. */
  readonly hidden: ReadonlyMap<Resource, readonly string[]>;
  /** What could not be tried, with the reason. */
  readonly skipped: string[];
  /** Puts another document into the store, which is not in the garden. */
  plant(resource: Resource, owner: string): Promise<Planted>;
  /** What a client sends to create a document; others than the planted ones. */
  sample(resource: Resource, owner: string): Fields;
}

/** Users, by their identifiers. */
export const people = { ada: "user", bob: "user", root: "admin" } as const;

/** How a service is opened. */
export interface WorldOptions extends Pick<StoreOptions, "onUnindexedQuery"> {
  /** URL of an empty database, which is emptied at the end. Default: one that is removed at the end. */
  readonly database?: string | undefined;
  /** Whether a database that is removed is a file of the temporary folder. Default: `false`, it is in memory. */
  readonly isFile?: boolean | undefined;
  /** Module that a second process has the service from; it needs a database outside of memory. Default: no second process. */
  readonly module?: string | undefined;
  /** Settings in addition to those that are needed, by the names of their variables. Default: none. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/**
 * Opens a service on an empty store, and fills it.
 *
 * @throws VerifyError for a service that does not open there.
 */
export async function openWorld(service: Service, options: WorldOptions): Promise<World> {
  const { isFile = false, module, onUnindexedQuery, settings = {} } = options;
  const { collections, name } = service;
  const folder = isFile ? await mkdtemp(join(tmpdir(), "fetchwork-verify-")) : undefined;
  const temporary =
    folder === undefined ? "sqlite::memory:" : `sqlite:${join(folder, "verify.db")}`;
  const { database = temporary } = options;
  const second =
    module === undefined
      ? undefined
      : new SecondProcess({ module, service: name, database, settings });
  let store: Store | undefined;
  const close = async (): Promise<void> => {
    await second?.[Symbol.asyncDispose]();
    await store?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
  try {
    store = await openStore(database, { collections, onUnindexedQuery });
    for (const one of collections) {
      if ((await store.collection(one).count({ max: 1, deleted: "include" })) === 0) continue;
      throw new VerifyError(`the database has documents in ${one.name}: expected an empty one`);
    }
    const isKept = options.database !== undefined;
    return await fill(service, store, { settings, second, isKept, close });
  } catch (cause) {
    await close();
    if (cause instanceof VerifyError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new VerifyError(`${name} does not open: ${reason}`, { cause });
  }
}

async function fill(
  service: Service,
  store: Store,
  {
    settings: given,
    second,
    isKept,
    close,
  }: {
    readonly settings: Readonly<Record<string, string>>;
    readonly second: SecondProcess | undefined;
    /** Whether the database is there afterwards, so that it has to be emptied. */
    readonly isKept: boolean;
    readonly close: () => Promise<void>;
  },
): Promise<World> {
  const { fragile, opened, settings } = openFragile(service, store, { settings: given });
  const simulated: Ending = {
    send: async (request) => runHandler(opened.handler, request),
    endAfter: (changes) => Promise.resolve(fragile.endAfter(changes)),
    restart: () => Promise.resolve(fragile.restart()),
  };
  const { accounts, resources, routes = [] } = service.options;
  const users = accounts?.user as Resource | undefined;
  const garden = new Garden();
  const skipped: string[] = [];
  const ids = new Map<string, string>();
  const hidden = new Map<Resource, readonly string[]>();
  let made = 0;

  const world: World = {
    service,
    store,
    get ending() {
      return second === undefined || second.isDone ? simulated : second;
    },
    handler: opened.handler,
    openApi: opened.openApi,
    ownRoutes: [...(resources ?? []).flat(), ...routes].filter(
      ({ action }) => action === undefined,
    ),
    callers: await makeCallers(),
    garden,
    hidden,
    skipped,
    plant: (resource, owner) => plant(resource, owner),
    sample: (resource, owner) => sample(resource, owner),
    async [Symbol.asyncDispose]() {
      await second?.[Symbol.asyncDispose]();
      await opened.stop({ grace: 0 });
      for (const one of isKept ? service.collections : []) {
        await store.collection(one).removeMany({ where: {} });
        if (one.softDelete === true) await store.collection(one).purgeMany();
      }
      await close();
    },
  };
  const others = service.resources.filter((resource) => resource !== users);
  for (const resource of others) {
    for (const owner of ["ada", "bob"]) {
      garden.add(await plant(resource, owner, idFor(resource, owner)));
    }
  }
  for (const resource of others) await discover(resource);
  for (const resource of others.filter(({ softDelete }) => softDelete)) {
    const planted = await plant(resource, "bob");
    await store.collection(resource.collection).remove(planted.document.id);
    garden.add({ ...planted, isRemoved: true });
  }
  return world;

  async function makeCallers(): Promise<readonly Caller[]> {
    const { masterKey } = settings;
    const callers: Caller[] = [{ name: "anonymous", viewer: {}, token: undefined }];
    if (users !== undefined && opened.accounts !== undefined) {
      const { context } = opened.accounts;
      for (const [id, role] of Object.entries(people)) {
        const own = fieldsFor(users, id);
        made += 1;
        const passwordHash = canaryOf({ type: "string" }, made);
        const fields = { ...own, role, passwordHash, sessionVersion: 1, verified: true };
        const document = await store.collection(users.collection).insert(fields, { id });
        garden.add({ resource: users, document });
        const account = { id, role, passwordHash: String(passwordHash), sessionVersion: 1 };
        const token = await opened.accounts.authentication.tokens.issue(account);
        callers.push({ name: role, viewer: { user: { id, role } }, token });
        if (id !== "ada") continue;
        const { key } = await context.keys.create(account, { name: "k", scopes: ["*:read"] });
        callers.push({ name: "key", viewer: { user: { id, role } }, token: key });
      }
      hidden.set(users, ["passwordHash", "sessionVersion", "verified"]);
    }
    return [...callers, { name: "master", viewer: { isMaster: true }, token: masterKey }];
  }

  function idFor(resource: Resource, owner: string): string {
    if (resource === users) return owner;
    const key = `${resource.path} ${owner}`;
    const known = ids.get(key) ?? `00000000-0000-7000-8000-${String(ids.size).padStart(12, "0")}`;
    ids.set(key, known);
    return known;
  }

  function fieldsFor(resource: Resource, owner: string, names = resource.fields): Fields {
    const input = (resource.input["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
    const output = (resource.output["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
    const fields: Record<string, unknown> = {};
    for (const field of names) {
      made += 1;
      const reference = resource.relations.references.find((one) => one.field === field);
      const id = reference && idFor(reference.to(), owner);
      fields[field] =
        id === undefined
          ? canaryOf(input[field] ?? output[field] ?? {}, made)
          : reference?.many === true
            ? [id]
            : id;
    }
    return fields;
  }

  function sample(resource: Resource, owner: string): Fields {
    const names = resource.fields.filter((field) => !resource.readOnly.has(field));
    return fieldsFor(resource, owner, names);
  }

  async function plant(resource: Resource, owner: string, id?: string): Promise<Planted> {
    const fields: Record<string, unknown> = { ...fieldsFor(resource, owner) };
    if (resource.owner !== undefined && resource.owner !== "id") fields[resource.owner] = owner;
    const known = garden.of(resource)[0]?.document ?? {};
    for (const name of hidden.get(resource) ?? []) {
      made += 1;
      fields[name] = canaryLike(Reflect.get(known, name), made);
    }
    const document = await store.collection(resource.collection).insert(fields, { id });
    return { resource, document };
  }

  /** Creates one document by a request, and marks fields that the program has added to it. */
  async function discover(resource: Resource): Promise<void> {
    const isKnown = (field: string): boolean =>
      resource.named.has(field) ||
      [resource.owner, "id", "version", "createdAt", "updatedAt", "deletedAt"].includes(field);
    for (const caller of world.callers.filter(({ name }) => name !== "key")) {
      const body = sample(resource, caller.viewer.user?.id ?? "ada");
      const request = requestOf(caller, { method: "POST", path: resource.path, body });
      const before = await idsOf(resource);
      const response = await runHandler(opened.handler, request);
      if (response.status !== 201) continue;
      const documents = store.collection(resource.collection);
      const created = (await documents.find({ limit: 1000 })).find(({ id }) => !before.has(id));
      if (created === undefined) continue;
      const names = Object.keys(created).filter((field) => !isKnown(field));
      await documents.remove(created.id);
      if (names.length === 0) return;
      hidden.set(resource, names);
      for (const planted of garden.of(resource)) {
        const marked = names.map((name) => {
          made += 1;
          return [name, canaryLike(Reflect.get(created, name), made)] as const;
        });
        const document = await documents.update(planted.document.id, Object.fromEntries(marked));
        if (document) garden.add({ resource, document });
      }
      return;
    }
    skipped.push(
      `no caller creates ${resource.plural} by a request, so fields that hooks add are not known`,
    );
  }

  async function idsOf({ collection }: Resource): Promise<ReadonlySet<string>> {
    const found = await store.collection(collection).find({ limit: 1000 });
    return new Set(found.map(({ id }) => id));
  }
}

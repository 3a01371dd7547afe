import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store, type StoreOptions, UniqueError } from "@fetchwork/documents";
import type { Fields, OpenApiDocument, Resource, Route } from "@fetchwork/rest";
import type { Service } from "@fetchwork/service";
import { VerifyError } from "../errors.ts";
import { canaryLike, canaryOf, choicesOf, propertiesOf } from "./canary.ts";
import type { Caller } from "../caller.ts";
import { type FragileService, openFragile } from "./fragile-service.ts";
import { Garden, maxStates, type Planted } from "./planted.ts";
import { SecondProcess } from "./second-process.ts";
import { createdIn, undo } from "./snapshot.ts";

/** A service on a separate database, with callers and documents of several owners. */
export interface World extends AsyncDisposable {
  readonly service: Service;
  readonly store: Store;
  /** Handles a request. One with `changes` is sent to a second process, as long as there is one. */
  readonly handle: FragileService["handle"];
  readonly openApi: OpenApiDocument;
  /** Routes of the project that belong to no operation of a resource. */
  readonly ownRoutes: readonly Route[];
  /** Nobody first. */
  readonly callers: readonly [Caller, ...Caller[]];
  readonly garden: Garden;
  /** Fields that creations add to those of the schema. */
  readonly hidden: ReadonlyMap<Resource, readonly string[]>;
  /** Parts that could not be tried, with the reason. */
  readonly skipped: string[];
  /** Puts another document with given values into the store, which is not in the garden. */
  plant(resource: Resource, owner: string, given?: Fields): Promise<Planted>;
  /** Removes documents whose unique fields the next one of an owner has, too. */
  makeRoom(resource: Resource, owner: string): Promise<void>;
  /** Removes a planted document, and puts back the one in the garden that made room for it. */
  uproot(planted: Planted): Promise<void>;
  /** Returns the body that creates a document other than the planted ones. */
  sample(resource: Resource, owner: string): Fields;
}

/** Users, by their identifiers. */
export const people = { ada: "user", bob: "user", root: "admin" } as const;

/** How a service is opened. */
export interface WorldOptions extends Pick<StoreOptions, "onUnindexedQuery"> {
  /** URL of an empty database, which is emptied at the end. Default: a temporary one. */
  readonly database?: string | undefined;
  /** Whether the temporary database is a file. Default: with `module`; else it is in memory. */
  readonly isFile?: boolean | undefined;
  /** Module that a second process has the service from. Default: no second process. */
  readonly module?: string | undefined;
  /** Further settings by the names of their variables. Default: none. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

type Closing = (() => Promise<unknown>)[];

/**
 * Opens a service on an empty store, and fills it.
 *
 * @throws VerifyError for a service that does not open there.
 */
export async function openWorld(service: Service, options: WorldOptions): Promise<World> {
  const closing: Closing = [];
  try {
    return await fill(service, options, closing);
  } catch (cause) {
    await close(closing);
    if (cause instanceof VerifyError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new VerifyError(`${service.name} does not open: ${reason}`, { cause });
  }
}

/** Does what is to be done at the end, the last one first. */
async function close(closing: Closing): Promise<void> {
  for (let next = closing.pop(); next; next = closing.pop()) await next();
}

async function fill(service: Service, options: WorldOptions, closing: Closing): Promise<World> {
  const { module, isFile = module !== undefined, onUnindexedQuery, settings = {} } = options;
  const folder = await mkdtemp(join(tmpdir(), "fetchwork-verify-"));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const temporary = isFile ? `sqlite:${join(folder, "verify.db")}` : "sqlite::memory:";
  const { database = temporary } = options;
  const { collections, name } = service;
  const store = await openStore(database, { collections, onUnindexedQuery });
  closing.push(() => store.close());
  for (const one of collections) {
    if ((await store.collection(one).count({ max: 1, deleted: "include" })) === 0) continue;
    throw new VerifyError(`the database has documents in ${one.name}: expected an empty one`);
  }
  if (database !== temporary) closing.push(() => empty(service, store));
  const { handle, opened, masterKey } = openFragile(service, store, settings);
  closing.push(() => opened.stop({ grace: 0 }));
  const served = module === undefined ? undefined : { module, service: name, database, settings };
  const second = served && new SecondProcess(served, join(folder, "compiled"));
  closing.push(async () => second?.[Symbol.asyncDispose]());

  const { accounts, resources = [], routes = [] } = service.options;
  const users = accounts?.user as Resource | undefined;
  const garden = new Garden();
  const skipped: string[] = [];
  const hidden = new Map<Resource, readonly string[]>();
  let made = 0;

  const world: World = {
    service,
    store,
    handle: (sent) =>
      sent.changes !== undefined && second?.isDone === false ? second.handle(sent) : handle(sent),
    openApi: opened.openApi,
    ownRoutes: [...resources.flat(), ...routes].filter(({ action }) => action === undefined),
    callers: await makeCallers(),
    garden,
    hidden,
    skipped,
    plant,
    makeRoom,
    uproot,
    sample,
    [Symbol.asyncDispose]: () => close(closing),
  };
  const others = service.resources.filter((resource) => resource !== users);
  for (const resource of others) await plantStates(resource);
  for (const resource of others) await discover(resource);
  for (const resource of others.filter(({ softDelete }) => softDelete)) {
    const planted = await plant(resource, "bob");
    await uproot(planted);
    garden.add({ ...planted, isRemoved: true });
  }
  return world;

  async function makeCallers(): Promise<World["callers"]> {
    const callers: Caller[] = [];
    if (users !== undefined && opened.accounts !== undefined) {
      const { context } = opened.accounts;
      for (const [id, role] of Object.entries(people)) {
        const own = fieldsFor(users, id);
        const passwordHash = String(canaryOf({ type: "string" }, next()));
        const fields = { ...own, role, passwordHash, sessionVersion: 1, unconfirmed: undefined };
        const document = await store.collection(users.collection).insert(fields, { id });
        garden.add({ resource: users, document });
        const account = { id, role, passwordHash, sessionVersion: 1 };
        const token = await opened.accounts.authentication.tokens.issue(account);
        callers.push({ name: role, viewer: { user: { id, role } }, token });
        if (id !== "ada") continue;
        const { key } = await context.keys.create(account, { name: "k", scopes: ["*:read"] });
        callers.push({ name: "key", viewer: { user: { id, role } }, token: key });
      }
    }
    const nobody: Caller = { name: "anonymous", viewer: {}, token: undefined };
    const master: Caller = { name: "master", viewer: { isMaster: true }, token: masterKey };
    return [nobody, ...callers, master];
  }

  function idFor(resource: Resource, owner: string, state = 0): string {
    if (resource === users) return owner;
    // A relation may lead to another definition of the same path.
    const index = service.resources.findIndex(({ path }) => path === resource.path);
    const number = (index + 1) * 100 + state * 2 + (owner === "bob" ? 1 : 0); // Root has Ada's.
    return `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;
  }

  function fieldsFor(resource: Resource, owner: string, names = resource.fields): Fields {
    const fields: Record<string, unknown> = {};
    for (const field of names) {
      const reference = resource.relations.references.find((one) => one.field === field);
      const id = reference && idFor(reference.to(), owner);
      const value = id ?? canaryOf(resource.properties[field] ?? {}, next());
      fields[field] = reference?.many === true ? [value] : value;
    }
    return fields;
  }

  function sample(resource: Resource, owner: string): Fields {
    const names = resource.fields.filter((field) => !resource.readOnly.has(field));
    return fieldsFor(resource, owner, names);
  }

  /** @param given - Values of fields. Default: all are made. */
  async function plant(
    resource: Resource,
    owner: string,
    given: Fields = {},
    id?: string,
  ): Promise<Planted> {
    const own =
      resource.owner === undefined || resource.owner === "id" ? {} : { [resource.owner]: owner };
    const known = garden.of(resource)[0]?.document ?? {};
    const added = valuesLike(known, hidden.get(resource) ?? []);
    const fields = { ...fieldsFor(resource, owner), ...own, ...added, ...given };
    if (id === undefined) await makeRoom(resource, owner);
    const document = await store.collection(resource.collection).insert(fields, { id });
    return { resource, document };
  }

  /** Plants documents of both owners with each member of enums and booleans. */
  async function plantStates(resource: Resource): Promise<void> {
    const choices = resource.fields
      .map((field) => [field, choicesOf(resource.properties[field] ?? {})] as const)
      .filter(([, all]) => all.length > 1);
    const count = Math.min(maxStates, Math.max(1, ...choices.map(([, all]) => all.length)));
    for (let state = 0; state < count; state += 1) {
      const fields = choices.map(([field, all]) => [field, all[state % all.length]] as const);
      for (const owner of ["ada", "bob"]) {
        const id = idFor(resource, owner, state);
        try {
          garden.add(await plant(resource, owner, Object.fromEntries(fields), id));
        } catch (error) {
          // The first one has the fixed key of its owner.
          if (state === 0 || !(error instanceof UniqueError)) throw error;
        }
      }
    }
  }

  async function makeRoom(resource: Resource, owner: string): Promise<void> {
    const documents = store.collection(resource.collection);
    for (const key of fixedKeysOf(resource)) {
      const fields: Fields = { ...fieldsFor(resource, owner, key), [resource.owner ?? ""]: owner };
      const where = Object.fromEntries(key.map((field) => [field, fields[field] as string]));
      await documents.removeMany({ where });
      if (resource.softDelete) await documents.purgeMany({ where });
    }
  }

  async function uproot({ resource, document }: Planted): Promise<void> {
    const documents = store.collection(resource.collection);
    await documents.remove(document.id);
    if (fixedKeysOf(resource).length === 0) return;
    for (const one of garden.of(resource).filter(({ isRemoved }) => isRemoved !== true)) {
      const { id, version: _version, createdAt: _made, updatedAt: _at, ...fields } = one.document;
      if ((await documents.get(id)) !== undefined) continue;
      garden.add({ resource, document: await documents.insert(fields, { id }) });
    }
  }

  /** Creates one document by a request, and marks fields that the program has added to it. */
  async function discover(resource: Resource): Promise<void> {
    const meta = [resource.owner, "id", "version", "createdAt", "updatedAt", "deletedAt"];
    for (const caller of world.callers.filter(({ name }) => name !== "key")) {
      const owner = caller.viewer.user?.id ?? "ada";
      const request = { method: "POST", path: resource.path, body: sample(resource, owner) };
      const undone = await undo(world, async () => {
        await makeRoom(resource, owner);
        return world.handle({ caller, request });
      });
      const [created] = createdIn(undone, resource);
      if (undone.result?.status !== 201 || created === undefined) continue;
      const names = Object.keys(created).filter(
        (field) => !resource.named.has(field) && !meta.includes(field),
      );
      if (names.length === 0) return;
      hidden.set(resource, names);
      for (const { document } of garden.of(resource)) {
        const documents = store.collection(resource.collection);
        const changed = await documents.update(document.id, valuesLike(created, names));
        if (changed) garden.add({ resource, document: changed });
      }
      return;
    }
    skipped.push(
      `no caller creates ${resource.plural} by a request, so fields that hooks add are not known`,
    );
  }

  function valuesLike(known: object, names: readonly string[]): Fields {
    const values = names.map((name) => [name, canaryLike(Reflect.get(known, name), next())]);
    return Object.fromEntries(values) as Fields;
  }

  function next(): number {
    made += 1;
    return made;
  }
}

/** Unique fields that hold references, the owner or choices alone, so that an owner has one. */
export function fixedKeysOf(resource: Resource): readonly (readonly string[])[] {
  const { collection, input, owner, relations } = resource;
  const known = new Set([owner, ...relations.references.map(({ field }) => field)]);
  const isFixed = (field: string): boolean =>
    known.has(field) || choicesOf(propertiesOf(input)[field] ?? {}).length > 0;
  return collection.unique.map((key) => [key].flat()).filter((key) => key.every(isFixed));
}

/** Removes all documents for good. */
async function empty({ collections }: Service, store: Store): Promise<void> {
  for (const one of collections) {
    await store.collection(one).removeMany({ where: {} });
    if (one.softDelete === true) await store.collection(one).purgeMany();
  }
}

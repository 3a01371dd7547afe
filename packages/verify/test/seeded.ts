import type { Resource, Route } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import {
  accountSettings,
  defineConfig,
  defineService,
  serverSettings,
  type Service,
} from "@fetchwork/service";
import type { Finding, Invariant } from "../src/index.ts";

/** A fault as users write it, and the same without it. */
export interface Seeded {
  readonly name: string;
  readonly expected?: Partial<Finding> | undefined;
  /** What the fault opens, as `resource.field caller`, where no finding is expected. */
  readonly opened?: string;
  /** Statements that it is verified with. Default: none. */
  readonly invariants?: readonly Invariant[];
  readonly faulty: () => Service;
  readonly repaired: () => Service;
}

/** The users of all these services. */
export const user = defineUser();

/** A service of some routes. */
export function serviceOf(...routes: readonly (Route | readonly Route[])[]): Service {
  return defineService({
    name: "seeded",
    config: defineConfig({ ...serverSettings, ...accountSettings }),
    accounts: accounts({ user }),
    resources: routes.filter((one) => Array.isArray(one)) as readonly (readonly Route[])[],
    routes: routes.filter((one) => !Array.isArray(one)) as readonly Route[],
  });
}

/** Options of the resource of most faults: staff whose salary its owner and admins see. */
export const staffOptions = {
  name: "staff",
  path: "/staff",
  owner: "boss",
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
  fields: { salary: "owner" },
} as const;

/** What routes of one's own have in common. */
export const about = { summary: "Do something", tag: "own" } as const;

/** Reads all documents of a resource. */
export function allOf(
  call: { readonly store: Parameters<Route["handle"]>[0]["store"] },
  resource: Resource,
) {
  return call.store.collection(resource.collection).find();
}

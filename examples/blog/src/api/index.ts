// `fetchwork add` writes this file: what src/api, src/jobs and src/receivers export.
import { articleRoutes } from "./article/index.ts";

/** Routes of each resource. */
export const resources = [articleRoutes] as const;

/** Routes that belong to no resource. */
export const routes = [] as const;

/** Jobs, which run without a request. */
export const jobs = [] as const;

/** Receivers of webhooks of other services. */
export const receivers = [] as const;

import { defineService } from "@fetchwork/service";
import { jobs, receivers, resources, routes } from "./api/index.ts";
import { config } from "./config.ts";
import { account } from "./services/accounts.ts";

/** The service, with all of its parts. */
export const app = defineService({
  name: "blog",
  title: "Blog",
  config,
  accounts: account,
  resources,
  routes,
  jobs,
  receivers,
  webhooks: true,
});

import { about as accounts } from "../accounts/about.ts";
import { about as agent } from "../agent/about.ts";
import { about as agentEdits } from "../agent-edits/about.ts";
import { about as agentRepositories } from "../agent-repositories/about.ts";
import { about as blog } from "../blog/about.ts";
import { about as commands } from "../commands/about.ts";
import { about as documents } from "../documents/about.ts";
import { about as documentsJobs } from "../documents-jobs/about.ts";
import { about as endpoint } from "../endpoint/about.ts";
import { about as httpClient } from "../http-client/about.ts";
import { about as httpServer } from "../http-server/about.ts";
import { about as idTokens } from "../id-tokens/about.ts";
import { about as middleware } from "../middleware/about.ts";
import { about as oauth2 } from "../oauth2/about.ts";
import { about as oauth2Outages } from "../oauth2-outages/about.ts";
import { about as service } from "../service/about.ts";
import { about as webhooks } from "../webhooks/about.ts";
import { about as webhooksSender } from "../webhooks-sender/about.ts";
import type { About } from "./about.ts";

/** The parts, in the order of the page. */
export const abouts: readonly About[] = [
  blog,
  service,
  accounts,
  documents,
  documentsJobs,
  middleware,
  httpServer,
  endpoint,
  httpClient,
  webhooks,
  webhooksSender,
  oauth2,
  oauth2Outages,
  idTokens,
  agent,
  agentRepositories,
  agentEdits,
  commands,
];

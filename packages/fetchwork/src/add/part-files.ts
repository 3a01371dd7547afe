import { CommandUsageError } from "../command/usage-error.ts";
import { deviceName } from "../files/device-name.ts";
import type { ProjectParts } from "./api-index.ts";
import { camelOf, keywords } from "./resource-names.ts";

/** A file that `fetchwork add job` or `fetchwork add receiver` writes. */
export interface PartFile {
  readonly path: string;
  readonly text: string;
  /** The list that names it. */
  readonly list: keyof ProjectParts;
  /** The setting that it needs. */
  readonly setting?: string;
}

/** Names that a project uses itself. */
const reserved = new Set([...keywords, "app", "config"]);

/**
 * Writes a job or a receiver.
 *
 * @throws CommandUsageError for an invalid name.
 */
export function partFile(kind: "job" | "receiver", name: string): PartFile {
  const isReserved = reserved.has(name) || deviceName.test(name);
  if (!/^[a-z][a-z\d]*(?:-[a-z\d]+)*$/.test(name) || name.length > 40 || isReserved) {
    throw new CommandUsageError(
      `invalid name ${JSON.stringify(name)}: expected lower-case letters, digits and hyphens, such as nightly-report`,
    );
  }
  return kind === "job" ? jobFile(name) : receiverFile(name);
}

function jobFile(name: string): PartFile {
  const text = `import { backgroundJob } from "@fetchwork/service";

/**
 * Runs every night, once in all processes. To queue it: \`call.jobs.add(${camelOf(name)}, input)\`.
 */
export const ${camelOf(name)} = backgroundJob({
  name: "${name}",
  schedule: { cron: "0 3 * * *", timeZone: "UTC" },
  // It is run again when it throws or its process ends.
  run(_input, { id }) {
    console.log(\`${name} runs as job \${id}\`);
  },
});
`;
  return { path: `src/jobs/${name}.ts`, text, list: "jobs" };
}

function receiverFile(name: string): PartFile {
  const setting = `${name.replaceAll("-", "_").toUpperCase()}_SECRET`;
  const text = `import { defineReceiver } from "@fetchwork/service";
import { stripe } from "@fetchwork/webhooks/vendors";

/** Receives webhooks of Stripe, signed with the secret of \`${setting}\`; without it: 404. */
export const ${camelOf(name)} = defineReceiver({
  name: "${camelOf(name)}",
  path: "/${name}/webhooks",
  vendor: stripe,
  secret: "${setting}",
  on: {
    "checkout.session.completed": ({ id, payload }) => {
      console.log(\`delivery \${id}: \${payload.type}\`);
    },
  },
});
`;
  return { path: `src/receivers/${name}.ts`, text, list: "receivers", setting };
}

import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseEnv } from "node:util";
import { openStore } from "@fetchwork/documents";
import { writeReference } from "@fetchwork/rest";
import type { Service } from "../define-service.ts";
import { StartError } from "../errors.ts";
import { openService } from "../open-service.ts";
import { environmentExample, withRandomSecrets } from "../settings/environment-example.ts";
import { readStartSettings } from "../settings/start-settings.ts";

/**
 * Writes the reference of the service that `src/app.ts` of a project exports as `app` into its
 * folder `docs`, without serving. Settings are those of the environment and of `.env`; secrets and
 * examples stand for others.
 *
 * @throws StartError when the module exports no service, or a setting is missing that has no
 * example.
 */
export async function docs(project: string): Promise<void> {
  const module = path.join(project, "src/app.ts");
  const { app } = (await import(pathToFileURL(module).href)) as { readonly app?: Service };
  if (app?.config === undefined) {
    throw new StartError(`${module} has no export \`app\`: expected what defineService returns`);
  }
  // Nothing is served here, so the secrets sign nothing and the store stays empty.
  const { receivers = [] } = app.options;
  const file = path.join(project, ".env");
  const environment = {
    ...parseEnv(withRandomSecrets(environmentExample(app.config))),
    ...Object.fromEntries(receivers.map(({ secret }) => [secret, receiverSecret])),
    ...(existsSync(file) && parseEnv(readFileSync(file, "utf8").replace(/^\uFEFF/, ""))),
    ...process.env,
  };
  const settings = readStartSettings(app, environment, project);
  const store = await openStore("sqlite::memory:", { collections: app.collections });
  try {
    const folder = path.join(project, "docs");
    await writeReference(openService(app, store, { settings }).openApi, folder);
    console.log(`The reference is ${path.relative(process.cwd(), folder)}/index.html`);
  } finally {
    await store.close();
  }
}

/** Has the form that the strictest scheme asks for. */
const receiverSecret = `whsec_${Buffer.alloc(24).toString("base64")}`;

import { serve } from "@fetchwork/http/serve";
import { resources } from "./api/index.ts";
import { createApp } from "./app.ts";
import { projectFolder, readConfig } from "./config.ts";
import { collections } from "./definitions.ts";
import { loadEnvironment } from "./services/environment-file.ts";
import { greeting } from "./services/greeting.ts";
import { openLog } from "./services/log.ts";
import { openDatabase } from "./services/open-database.ts";
import { startFailure } from "./services/start-error.ts";

// Whoever read the log may go; that is no reason to stop serving.
process.stdout.on("error", ignore);
process.stderr.on("error", ignore);

try {
  await start();
} catch (error) {
  console.error(startFailure(error));
  process.exitCode = 1;
}

async function start(): Promise<void> {
  const environmentFile = loadEnvironment(projectFolder);
  const config = readConfig(process.env);
  const { hostname, port, masterKey, databaseUrl, isProduction } = config;
  const logs = await openLog(config);
  const store = await openDatabase(
    databaseUrl,
    collections,
    isProduction ? undefined : logs.warned,
  );
  try {
    const app = createApp({ ...config, logs }, store);
    const server = await serve(app.handler, {
      hostname,
      port,
      requestTimeout: 30_000,
      reportError: logs.failed,
    });
    try {
      logs.started(
        server.url,
        greeting({
          server,
          databaseUrl,
          masterKey,
          environmentFile,
          projectFolder,
          workingFolder: process.cwd(),
          resources: resources.filter(({ name }) => name !== "user"),
          accounts: app.accounts.context,
        }),
      );
      if (app.accounts.context.signUp === "public" && config.mail === undefined) {
        logs.warned("SMTP_URL is not set: everyone may sign up, and no mail confirms an address");
      }
      app.sender.start();
      app.accounts.start();
      await server.finished;
    } finally {
      await server.close();
      await app.accounts.stop();
      await app.sender.stop();
    }
  } finally {
    await store.close();
  }
}

function ignore(): void {}

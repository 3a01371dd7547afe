import { openStore } from "@fetchwork/documents";
import { serve } from "@fetchwork/http/serve";
import { article } from "./api/article/model.ts";
import { user } from "./api/user/model.ts";
import { createApp } from "./app.ts";
import { projectFolder, readConfig } from "./config.ts";
import { loadEnvironment } from "./services/environment-file.ts";
import { greeting } from "./services/greeting.ts";

try {
  await start();
} catch (error) {
  console.error(`blog: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

async function start(): Promise<void> {
  loadEnvironment(projectFolder);
  const config = readConfig(process.env);
  const store = await openStore(config.databaseUrl, {
    collections: [user.collection, article.collection],
  });
  try {
    const { handler } = createApp(config, store);
    const server = await serve(handler, { hostname: config.hostname, port: config.port });
    const shownHost = config.hostname === "0.0.0.0" ? "0.0.0.0" : server.hostname;
    console.log(greeting(config, `http://${shownHost}:${server.port}`, projectFolder));
    await server.finished;
  } finally {
    await store.close();
  }
}

import cluster from "node:cluster";
import { serve } from "@fetchwork/http/serve";
import type { Service } from "./define-service.ts";
import { startFailure } from "./start-failure.ts";
import { greeting } from "./greeting/greeting.ts";
import { type Log, openLog } from "./log/log.ts";
import { openService } from "./open-service.ts";
import { findProjectFolder } from "./project-folder.ts";
import { runProcesses } from "./processes/run-processes.ts";
import { stopWithNpm } from "./processes/stop-with-npm.ts";
import { joinPrimary } from "./processes/worker-process.ts";
import { type EnvironmentFile, loadEnvironment } from "./settings/environment-file.ts";
import { readStartSettings, type StartSettings } from "./settings/start-settings.ts";
import { openDatabase } from "./store/open-database.ts";

/**
 * Runs a service: reads its settings from `.env` and the environment, opens its log and its store,
 * serves, does what is done next to requests, and stops in order at SIGTERM or SIGINT. Resolves
 * when it has stopped.
 *
 * With `PROCESSES` above 1, this process starts that many of itself, which serve on one port, and
 * serves nothing itself: it replaces those that crash, and at SIGHUP one after the other, without a
 * request that is lost. A process that serves alone stops in order at SIGHUP, too.
 *
 * Under `npm run` it stops as well when npm or its shell has ended, within 250 ms.
 *
 * A fault of the settings or the surroundings is printed as one line each, and the exit code is 1.
 *
 * @example
 * ```ts
 * await runService(app);
 * ```
 */
export async function runService(service: Service): Promise<void> {
  // The reader of the log may go; the service goes on.
  process.stdout.on("error", ignore);
  process.stderr.on("error", ignore);
  if (cluster.isPrimary) stopWithNpm();
  const inherited = new Set(Object.keys(process.env));
  try {
    const folder = findProjectFolder();
    const environmentFile = loadEnvironment(folder, service.config);
    const settings = readStartSettings(service, process.env, folder);
    const logs = await openLog({ ...settings, name: service.name });
    if (settings.processes > 1 && cluster.isPrimary) {
      // Each process reads `.env` itself, where inherited variables would win.
      for (const name of Object.keys(process.env)) {
        if (!inherited.has(name)) delete process.env[name];
      }
      await runProcesses(settings, logs);
    } else {
      await start(service, { environmentFile, folder, logs, settings });
    }
  } catch (error) {
    console.error(startFailure(service.name, error));
    process.exitCode = 1;
  } finally {
    // Its channel would keep this process running.
    if (cluster.worker?.isConnected() === true) cluster.worker.disconnect();
  }
}

interface Surroundings {
  readonly environmentFile: EnvironmentFile | undefined;
  readonly folder: string;
  readonly logs: Log;
  readonly settings: StartSettings;
}

async function start(service: Service, surroundings: Surroundings): Promise<void> {
  const { logs, settings } = surroundings;
  const { databaseUrl, hostname, isProduction, port } = settings;
  const store = await openDatabase(databaseUrl, {
    collections: service.collections,
    name: service.name,
    warn: isProduction ? undefined : logs.warned,
  });
  try {
    const opened = openService(service, store, { logs, settings });
    const server = await serve(opened.handler, {
      hostname,
      port,
      requestTimeout: 30_000,
      reportError: logs.failed,
    });
    try {
      const { worker } = cluster;
      const accounts = opened.accounts?.context;
      const isFirst = worker === undefined || worker.id === 1;
      const welcome = isFirst
        ? greeting({
            title: service.title,
            server,
            databaseUrl,
            masterKey: settings.masterKey,
            environmentFile: surroundings.environmentFile,
            projectFolder: surroundings.folder,
            workingFolder: process.cwd(),
            resources: service.resources.filter(({ name }) => name !== accounts?.user.name),
            accounts,
          })
        : undefined;
      logs.started(server.url, welcome);
      if (isFirst && accounts?.signUp === "public" && settings.mail === undefined) {
        logs.warned("SMTP_URL is not set: everyone may sign up, and no mail confirms an address");
      }
      await opened.start();
      const stop = (): void => void server.close();
      if (worker) joinPrimary(worker, stop);
      else process.once("SIGHUP", stop);
      await server.finished;
    } finally {
      await server.close();
      await opened.stop();
    }
  } finally {
    await store.close();
  }
}

function ignore(): void {}

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "../pack-packages.mjs";
import { startProgram } from "../test-runtimes/start-program.ts";
import { freePort } from "../../test/free-port.ts";

/** A registry that runs on this machine. */
export interface LocalRegistry {
  /** `http://127.0.0.1:<port>/` */
  readonly url: string;
  /**
   * Variables with which package managers use this registry and nothing of the user's: no cache,
   * token or setting.
   */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/**
 * Starts Verdaccio, which stores what is published and takes other packages from the registry that
 * npm is configured with. It never asks that registry for ours.
 *
 * @param modules `node_modules` that has `verdaccio`
 * @param folder of its files; made here
 */
export async function startRegistry(modules: string, folder: string): Promise<LocalRegistry> {
  mkdirSync(folder);
  const upstream = run("npm", ["config", "get", "registry"], root).stdout.trim();
  const everyone = { access: "$all", publish: "$all" };
  const config = {
    storage: join(folder, "storage"),
    auth: { htpasswd: { file: join(folder, "htpasswd"), max_users: -1 } },
    web: { enable: false },
    uplinks: { upstream: { url: upstream, timeout: "60s", max_fails: 100, maxage: "60m" } },
    packages: {
      "@fetchwork/*": everyone,
      "{fetchwork,create-fetchwork}": everyone,
      "**": { access: "$all", proxy: "upstream" },
    },
    // Without the one that sends lists of packages to the other registry.
    middlewares: {},
    max_body_size: "100mb",
    log: { type: "stdout", format: "json", level: "warn" },
  };
  // JSON is YAML.
  const file = join(folder, "config.yaml");
  writeFileSync(file, JSON.stringify(config));

  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const server = startProgram(process.execPath, {
    args: [join(modules, "verdaccio/bin/verdaccio"), "--config", file, "--listen", url],
    cwd: folder,
    limit: 3_600_000,
  });
  process.on("exit", () => server.kill());
  let end: string | undefined;
  void server.ended.then(({ output }) => (end = output));
  while (!(await responds(`${url}-/ping`))) {
    if (end !== undefined) throw new Error(`Verdaccio did not start:\n${end}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url,
    environment: environmentFor(url, folder),
    close: async () => {
      server.kill();
      await server.ended;
    },
  };
}

function environmentFor(url: string, folder: string): Readonly<Record<string, string>> {
  const userconfig = join(folder, "npmrc");
  // npm sends nothing without a token; this registry accepts any.
  writeFileSync(userconfig, `//${new URL(url).host}/:_authToken=none\n`);
  return {
    HOME: folder,
    npm_config_registry: url,
    npm_config_userconfig: userconfig,
    npm_config_cache: join(folder, "npm"),
    npm_config_audit: "false",
    npm_config_update_notifier: "false",
    npm_config_yes: "true",
    // pnpm and Yarn wait for a day before they install what was just published.
    pnpm_config_registry: url,
    pnpm_config_minimum_release_age: "0",
    pnpm_config_store_dir: join(folder, "pnpm"),
    YARN_NPM_REGISTRY_SERVER: url,
    YARN_NPM_MINIMAL_AGE_GATE: "0",
    YARN_UNSAFE_HTTP_WHITELIST: "127.0.0.1",
    YARN_GLOBAL_FOLDER: join(folder, "yarn"),
    YARN_ENABLE_TELEMETRY: "0",
    YARN_ENABLE_IMMUTABLE_INSTALLS: "false",
    YARN_NODE_LINKER: "node-modules",
  };
}

function responds(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

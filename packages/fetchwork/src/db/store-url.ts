import { resolve } from "node:path";
import { DocumentsError, openStore, type Store } from "@fetchwork/documents";
import { shownUrl } from "@fetchwork/service/internal";
import type { CommandIo } from "../command/command-io.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { findProjectStore } from "./project-store.ts";

/** The option that names a store. */
export const urlOption = {
  url: {
    type: "string",
    short: "u",
    description:
      "Store: sqlite:<path>, postgres://…, or env:<NAME> to read it from a variable, hidden from ps (default: env:DATABASE_URL, in a project also from its .env, else the project's own default)",
  },
} as const;

/**
 * Returns the URL of the store, with an absolute path. `env:` reads it from a variable, in a
 * project also from its `.env`. Without a URL it is the store of the project.
 */
export function storeUrl(url: string | undefined, io: CommandIo): string {
  const name = url === undefined ? "DATABASE_URL" : /^env:(.*)$/s.exec(url)?.[1];
  if (name === undefined) return withAbsolutePath(url ?? "", io.cwd);
  const project = findProjectStore(io);
  const { env, folder } = project ?? { env: io.env, folder: io.cwd };
  const given = env[name];
  // The path is relative to the project, whose settings they are.
  if (given) return withAbsolutePath(given, folder);
  // In production a variable that got lost must not turn into another store.
  if (url === undefined && project?.defaultUrl !== undefined && env["NODE_ENV"] !== "production") {
    const found = withAbsolutePath(project.defaultUrl, folder);
    io.stderr.write(`store: ${shownUrl(found)}\n`);
    return found;
  }
  throw new CommandUsageError(
    url === undefined
      ? "no store given: pass --url sqlite:data/app.db, or set DATABASE_URL"
      : `${url} is not set`,
  );
}

function withAbsolutePath(url: string, folder: string): string {
  const path = /^sqlite:(?!:|\/)(.+)$/s.exec(url)?.[1];
  return path === undefined ? url : `sqlite:${resolve(folder, path)}`;
}

/** Opens a store that is there; nothing is written where there is none. */
export async function openExisting(url: string): Promise<Store> {
  const store = await tryExisting(url);
  if (store !== undefined) return store;
  throw new Error(
    /^postgres/i.test(url)
      ? `no store at ${shownUrl(url)}: the program creates it, or fetchwork db migrate`
      : `${shownUrl(url)} is not there`,
  );
}

/** Opens a store; resolves to `undefined` if there is none. */
export async function tryExisting(url: string): Promise<Store | undefined> {
  try {
    return await openStore(url, { create: false });
  } catch (error) {
    if (error instanceof DocumentsError && error.code === "ERR_DOCUMENTS_MISSING") return undefined;
    throw error;
  }
}

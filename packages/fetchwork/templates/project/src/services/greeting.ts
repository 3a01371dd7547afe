import path from "node:path";
import type { Resource } from "@fetchwork/rest";
import { about } from "../about.ts";
import type { EnvironmentFile } from "./environment-file.ts";
import { shownUrl } from "./shown-url.ts";
import { triesOf } from "./try-lines.ts";

/** What the greeting tells about. */
export interface Greeted {
  /** Where the server answers. */
  readonly server: { readonly url: string };
  readonly databaseUrl: string;
  readonly masterKey: string;
  /** Absent where keys come from the environment alone. */
  readonly environmentFile: EnvironmentFile | undefined;
  readonly projectFolder: string;
  readonly workingFolder: string;
  /** What there is beside users. */
  readonly resources: readonly Resource[];
}

/** What to know and what to try next, printed at the start. The lines work as pasted into a shell. */
export function greeting(greeted: Greeted): string {
  const { server, databaseUrl, masterKey, environmentFile, projectFolder, workingFolder } = greeted;
  const [resource] = greeted.resources;
  const url = server.url.replace(/\/$/, "");

  const file = path.relative(workingFolder, environmentFile?.path ?? "");
  const isInFile = environmentFile !== undefined && linesOf(environmentFile.text) === masterKey;
  const where = workingFolder === projectFolder ? "" : ` in ${workingFolder}`;
  const what = isInFile ? "" : ", with MASTER_KEY set as here";
  // Only these characters mean themselves both in a form and to a shell.
  const key = /^[\w.~-]+$/.test(masterKey)
    ? "-d access_token=$MASTER_KEY"
    : '--data-urlencode "access_token=$MASTER_KEY"';
  const lines = [
    ...(isInFile ? [`MASTER_KEY=$(${readKeyFrom(file)})`] : []),
    // #if users
    `curl -w '\\n' ${url}/users -d email=ada@example.com -d password=analytical ${key}`,
    `TOKEN=$(curl -s -u ada@example.com:analytical ${url}/auth ${key} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
    // #endif
    ...(resource === undefined ? noResource(url) : triesOf(resource, { url, key })),
  ];

  return `${about.title.replace(/ API$/, "")} API on ${url}, reference at ${url}/docs
Documents: ${shownUrl(databaseUrl)}
Keys: ${isInFile ? file : "from the environment"}

Try, in another terminal${where}${what}:

${lines.map((line) => `  ${line}`).join("\n")}

Ctrl-C stops it.`;
}

// #if users
function noResource(url: string): readonly string[] {
  return [`curl -w '\\n' ${url}/users/me -H "Authorization: Bearer $TOKEN"`];
}
// #endif
// #if !users
//+ function noResource(url: string): readonly string[] {
//+   return [`curl -w '\\n' ${url}/openapi.json`];
//+ }
// #endif

function readKeyFrom(file: string): string {
  return `sed -n 's/^MASTER_KEY=//p' ${forShell(file)}`;
}

/** What {@link readKeyFrom}'s command prints: quotes of a value stay, for one. */
function linesOf(text: string): string {
  return Array.from(text.matchAll(/^MASTER_KEY=(.*)$/gm), ([, value]) => value).join("\n");
}

function forShell(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

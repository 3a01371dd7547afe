import path from "node:path";
import type { Resource } from "@fetchwork/rest";
import type { AccountsContext } from "@fetchwork/rest/accounts";
import type { EnvironmentFile } from "../settings/environment-file.ts";
import { shownUrl } from "../store/shown-url.ts";
import { triesOf } from "./try-lines.ts";

/** Facts that the greeting shows. */
export interface Greeted {
  /** Name of the service, for people. */
  readonly title: string;
  /** Where the server responds. */
  readonly server: { readonly url: string };
  readonly databaseUrl: string;
  readonly masterKey: string;
  /** Absent where keys come from the environment alone. */
  readonly environmentFile: EnvironmentFile | undefined;
  readonly projectFolder: string;
  readonly workingFolder: string;
  /** Resources in addition to users. */
  readonly resources: readonly Resource[];
  /** Callers who may sign up and in. Absent without users. */
  readonly accounts?: AccountsAccess | undefined;
}

type AccountsAccess = Pick<AccountsContext, "linkOrigins" | "mails" | "signIn" | "signUp">;

/** Writes facts, and commands to try in a shell as pasted, printed at the start. */
export function greeting(greeted: Greeted): string {
  const { databaseUrl, environmentFile, masterKey, projectFolder, server, workingFolder } = greeted;
  const [resource] = greeted.resources;
  const url = server.url.replace(/\/$/, "");

  const file = path.relative(workingFolder, environmentFile?.path ?? "");
  const isInFile = environmentFile !== undefined && linesOf(environmentFile.text) === masterKey;
  const where = workingFolder === projectFolder ? "" : ` in ${workingFolder}`;
  // Only these characters mean themselves both in a form and to a shell.
  const key = /^[\w.~-]+$/.test(masterKey)
    ? "-d access_token=$MASTER_KEY"
    : '--data-urlencode "access_token=$MASTER_KEY"';
  const tries = [
    ...(greeted.accounts ? triesOfUsers(url, key, greeted.accounts) : []),
    ...(resource === undefined ? noResource(url, greeted) : triesOf(resource, { url, key })),
  ];
  const needsKey = tries.some((line) => line.includes("$MASTER_KEY"));
  const what = needsKey && !isInFile ? ", with MASTER_KEY set as here" : "";
  const lines = needsKey && isInFile ? [`MASTER_KEY=$(${readKeyFrom(file)})`, ...tries] : tries;

  return `${greeted.title.replace(/ API$/, "")} API on ${url}, reference at ${url}/docs
Documents: ${shownUrl(databaseUrl)}
Keys: ${isInFile ? file : "from the environment"}

Try, in another terminal${where}${what}:

${lines.map((line) => `  ${line}`).join("\n")}

Ctrl-C stops it.`;
}

/** Lines that sign up, follow the link of the mail where there is one, and sign in. */
function triesOfUsers(url: string, key: string, accounts: AccountsAccess): readonly string[] {
  const { linkOrigins, mails, signIn, signUp } = accounts;
  const { [0]: page = url } = linkOrigins ?? [];
  const isMailed = signUp === "public" && mails !== undefined;
  const link = isMailed ? ` -d link=${page}/email-changes` : "";
  const signUpKey = signUp === "public" ? "" : ` ${key}`;
  const signInKey = signIn === "public" ? " -X POST" : ` ${key}`;
  return [
    `curl -w '\\n' ${url}/users -d email=ada@example.com -d password=analytical${link}${signUpKey}`,
    ...(isMailed
      ? [
          "printf 'Link of the mail: '; read -r LINK",
          `curl -w '\\n' -X PUT "${url}/email-changes/\${LINK##*/}" -d password=analytical`,
        ]
      : []),
    `TOKEN=$(curl -s -u ada@example.com:analytical ${url}/auth${signInKey} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
  ];
}

function noResource(url: string, { accounts }: Greeted): readonly string[] {
  if (accounts === undefined) return [`curl -w '\\n' ${url}/openapi.json`];
  return [`curl -w '\\n' ${url}/users/me -H "Authorization: Bearer $TOKEN"`];
}

function readKeyFrom(file: string): string {
  return `sed -n 's/^MASTER_KEY=//p' ${forShell(file)}`;
}

/** Returns the output of {@link readKeyFrom}'s command: quotes of a value and `\r` stay. */
function linesOf(text: string): string {
  return Array.from(text.matchAll(/^MASTER_KEY=([^\n]*)$/gm), ([, value]) => value).join("\n");
}

function forShell(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

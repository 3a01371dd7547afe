import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, posix } from "node:path";
import { CommandUsageError } from "../command/usage-error.ts";
import { namesIn, publicNames } from "./public-names.ts";

/** A part of accounts that a project may own. */
interface Part {
  /** Folder that it is written to. */
  readonly folder: string;
  /** The one file that the part replaces, and its text before. */
  readonly entry: string;
  /** Files of the package, under `src/accounts`, and what they are called in the project. */
  readonly files: Readonly<Record<string, string>>;
  /** Text of a file that puts the others together, unless one of them is it. */
  readonly index?: string | undefined;
}

export const parts: Readonly<Record<"auth" | "users", Part>> = {
  users: {
    folder: "src/api/user",
    entry: "controller.ts",
    files: {
      "users/user-controller.ts": "controller.ts",
      "users/create-user.ts": "create-user.ts",
    },
  },
  auth: {
    folder: "src/api/auth",
    entry: "index.ts",
    files: {
      "sessions/auth-routes.ts": "auth-routes.ts",
      "sessions/session-routes.ts": "session-routes.ts",
      "keys/key-routes.ts": "key-routes.ts",
      "second-factor/second-factor-routes.ts": "second-factor-routes.ts",
      "passkeys/passkey-routes.ts": "passkey-routes.ts",
      "mails/email-routes.ts": "email-routes.ts",
      "mails/password-reset-routes.ts": "password-reset-routes.ts",
    },
    index: `import type { AccountParts } from "@fetchwork/rest/accounts";
import { authRoutes as passwordRoutes } from "./auth-routes.ts";
import { emailRoutes } from "./email-routes.ts";
import { keyRoutes } from "./key-routes.ts";
import { passkeyRoutes } from "./passkey-routes.ts";
import { passwordResetRoutes } from "./password-reset-routes.ts";
import { secondFactorRoutes } from "./second-factor-routes.ts";
import { sessionRoutes } from "./session-routes.ts";

/** The ways to sign in. */
export const authRoutes: AccountParts["auth"] = (context) => [
  ...passwordRoutes(context),
  ...sessionRoutes(context),
  ...keyRoutes(context),
  ...secondFactorRoutes(context),
  ...(context.passkeys ? passkeyRoutes(context, context.passkeys) : []),
  ...emailRoutes(context),
  ...passwordResetRoutes(context),
];
`,
  },
};

/**
 * Writes a part of accounts out, as the project's version of the package has it: its files by their paths in the project.
 *
 * @throws CommandUsageError where the package is not installed.
 */
export function ejectedPart(
  name: keyof typeof parts,
  project: string,
): ReadonlyMap<string, string> {
  const { files, folder, index } = parts[name];
  const source = sourceFolder(project);
  const known = publicNames(source);
  const written = new Map<string, string>();
  for (const [file, ownName] of Object.entries(files)) {
    const text = readFileSync(join(source, "accounts", file), "utf8");
    written.set(`${folder}/${ownName}`, rewriteImports(text, { file, files, known }));
  }
  if (index !== undefined) written.set(`${folder}/index.ts`, index);
  return written;
}

function sourceFolder(project: string): string {
  try {
    const manifest = createRequire(join(project, "package.json")).resolve(
      "@fetchwork/rest/package.json",
    );
    return join(dirname(manifest), "src");
  } catch (cause) {
    throw new CommandUsageError("@fetchwork/rest is not installed: run npm install", { cause });
  }
}

/** Lets a file import from the entries of the package what it imported from files of the package. */
function rewriteImports(
  text: string,
  {
    file,
    files,
    known,
  }: {
    readonly file: string;
    readonly files: Part["files"];
    readonly known: ReadonlyMap<string, string>;
  },
): string {
  const byEntry = new Map<string, string[]>();
  const rest = text.replace(
    /^import (type )?\{([^}]*)\} from "(\.[^"]*)";\n/gm,
    (_all, type: string | undefined, list: string, path: string) => {
      const target = posix.join(posix.dirname(file), path);
      const own = files[target];
      for (const name of namesIn(list)) {
        const entry = own === undefined ? known.get(name) : `./${own}`;
        if (entry === undefined) throw new Error(`${name} of ${basename(path)} is not public`);
        const isType = type !== undefined || new RegExp(`\\btype ${name}\\b`).test(list);
        const names = byEntry.get(entry) ?? [];
        byEntry.set(entry, [...names, isType ? `type ${name}` : name]);
      }
      return "";
    },
  );
  const imports = [...byEntry]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([entry, names]) => importLine(names.toSorted(byName), entry));
  // After the imports of other packages, which stay as they are.
  const end = [...rest.matchAll(/^import [^;]*;\n/gm)].at(-1);
  const at = end === undefined ? 0 : end.index + end[0].length;
  return `${rest.slice(0, at)}${imports.join("")}${rest.slice(at)}`;
}

function importLine(names: readonly string[], entry: string): string {
  const isTypes = names.every((name) => name.startsWith("type "));
  const shown = isTypes ? names.map((name) => name.replace(/^type /, "")) : names;
  const head = isTypes ? "import type" : "import";
  const line = `${head} { ${shown.join(", ")} } from "${entry}";\n`;
  if (line.length <= 101) return line;
  return `${head} {\n${shown.map((name) => `  ${name},\n`).join("")}} from "${entry}";\n`;
}

function byName(one: string, other: string): number {
  return one.replace(/^type /, "").localeCompare(other.replace(/^type /, ""));
}

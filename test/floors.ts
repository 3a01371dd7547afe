/**
 * The folders of `src/` of each package, from top to bottom. A file imports files of its own folder and of folders that
 * stand lower in the list; imports of types count. A name that ends in `.ts` is one file with a floor to itself, and `.` is
 * the files beside the folders; entry files (`index.ts`) stand on top and are not
 * listed. `a/b` is listed where a folder inside a folder has a separate floor.
 */
export const floors: Readonly<Record<string, readonly string[]>> = {
  endpoint: ["."],
  kit: ["bodies", "waiting", "addresses", "secrets", "credentials", "options", "errors", "."],
  oauth2: [
    "node",
    "oidc",
    "oidc/requests",
    "oidc/logout",
    "oidc/resource",
    "oidc/provider-endpoint.ts",
    "oidc/jwt",
    "oidc/metadata",
    "oidc/errors.ts",
    "oidc/parse-challenges.ts",
    "client",
    "grants",
    "manager",
    "store",
    "token",
    "connection",
    "credentials",
    "message",
    "log",
    "compat",
    ".",
  ],
  fetchwork: [
    "main.ts",
    "commands.ts",
    "eject",
    "add",
    "new",
    "agent",
    "agent/view",
    "db",
    "oauth",
    "webhooks",
    "files",
    "command",
    "version.ts",
  ],
};

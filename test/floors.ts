/**
 * The folders of `src/` of each package, from top to bottom. A file imports files of the same folder and of folders lower
 * in the list; imports of types count. A name that ends in `.ts` is a single file with a separate floor, and `.` stands
 * for the files next to the folders. Entry files (`index.ts`) are on top and not listed. `a/b` is listed where a folder
 * inside a folder has a separate floor.
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

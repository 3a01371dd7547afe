import { listText, literal } from "../add/source-text.ts";
import type { ProjectOptions } from "./project-options.ts";

/** Writes the sources of a project that differ from one project to another, by their paths. */
export function projectSources(options: ProjectOptions): ReadonlyMap<string, string> {
  return new Map([
    ["src/app.ts", appFile(options)],
    ["src/config.ts", configFile(options)],
    ...(options.hasUsers ? accountFiles(options) : []),
  ]);
}

function appFile({ hasUsers, name, title, webhooks }: ProjectOptions): string {
  const account = 'import { account } from "./services/accounts.ts";\n';
  return `import { defineService } from "@fetchwork/service";
import { jobs, receivers, resources, routes } from "./api/index.ts";
import { config } from "./config.ts";
${hasUsers ? account : ""}
/** The service, with all of its parts. */
export const app = defineService({
  name: ${literal(name)},
  title: ${literal(title)},
  config,
${hasUsers ? "  accounts: account,\n" : ""}  resources,
  routes,
  jobs,
  receivers,
${webhooks ? "  webhooks: true,\n" : ""}});
`;
}

function configFile(options: ProjectOptions): string {
  const groups = settingGroups(options);
  const names = [...groups, "defineConfig"].toSorted();
  const defaults = Object.entries(settingDefaults(options)).map(
    ([name, value]) => `${name}: ${literal(value)}`,
  );
  const given = defaults.length === 0 ? "" : `, { ${defaults.join(", ")} }`;
  const imports = listText(names, {
    head: "import ",
    brackets: ["{", "}"],
    tail: ' from "@fetchwork/service";',
  });
  const shape = groups.map((group) => `...${group}`);
  const head = "export const config = defineConfig(";
  const text =
    given === ""
      ? listText(shape, { head, brackets: ["{", "}"], tail: ");" })
      : `${head}\n  { ${shape.join(", ")} },\n  { ${defaults.join(", ")} },\n);`;
  return `${imports}

/** Settings, by the names of their variables; \`.env.example\` says what they mean. */
${text}
`;
}

/** The groups of settings of the package. */
type SettingGroup = "accountSettings" | "mailSettings" | "serverSettings" | "webhookSettings";

/** Names of the groups of settings that a project has. */
export function settingGroups({
  hasUsers,
  passwordResets,
  webhooks,
}: ProjectOptions): readonly SettingGroup[] {
  const groups: SettingGroup[] = ["serverSettings"];
  if (hasUsers) groups.push("accountSettings");
  if (passwordResets) groups.push("mailSettings");
  if (webhooks) groups.push("webhookSettings");
  return groups;
}

/** Defaults of settings that differ from those of the package. */
export function settingDefaults({
  database,
  name,
  port,
}: ProjectOptions): Readonly<Record<string, string>> {
  return {
    ...(port === 9000 ? {} : { PORT: String(port) }),
    ...(database === "postgres" ? { DATABASE_URL: `postgres://localhost/${name}` } : {}),
  };
}

function accountFiles({ list, signUp = "master", webhooks }: ProjectOptions): [string, string][] {
  const given = [
    ...(webhooks ? ['changes: "documents"'] : []),
    ...(list === "rows" ? ['list: { shape: "rows" }'] : []),
  ];
  const user = given.length === 0 ? "defineUser()" : `defineUser({ ${given.join(", ")} })`;
  const model = `import type { DocumentOf } from "@fetchwork/rest";
import { defineUser } from "@fetchwork/rest/accounts";

/** Users: name, picture, email, role and password are there; \`schema\` adds fields of your own. */
export const user = ${user};

/** A user as the store keeps it. */
export type User = DocumentOf<typeof user>;
`;
  const accounts = `import { accounts } from "@fetchwork/rest/accounts";
import { authRoutes } from "../api/auth/index.ts";
import { userRoutes } from "../api/user/index.ts";
import { user } from "../api/user/model.ts";

/** Callers who may sign up and in: "master": holders of the key; "public": everyone, by mail. */
const open = { signUp: ${literal(signUp)}, signIn: ${literal(signUp)} } as const;

/** Users and how they sign in. */
export const account = accounts({ user, ...open, parts: { users: userRoutes, auth: authRoutes } });
`;
  return [
    ["src/api/user/model.ts", model],
    ["src/services/accounts.ts", accounts],
  ];
}

// The same API in Strapi 5 as in production, without its admin panel, which would have to be built:
// what administrators set there, roles and a user, is set here. Only the database is in the folder
// of the run.
import { createRequire } from "node:module";

const {
  DATABASE_URL,
  EMAIL: email,
  JWT_SECRET,
  MASTER_KEY,
  PASSWORD: password,
  PORT,
} = process.env;
const appDir = import.meta.dirname;
process.chdir(appDir);
const { createStrapi } = createRequire(import.meta.url)("@strapi/strapi");
const strapi = createStrapi({ appDir, serveAdminPanel: false });
strapi.config.set("server", {
  ...strapi.config.get("server"),
  host: "127.0.0.1",
  port: Number(PORT),
  app: { keys: [JWT_SECRET] },
});
strapi.config.set("admin", {
  ...strapi.config.get("admin"),
  serveAdminPanel: false,
  auth: { secret: MASTER_KEY },
  apiToken: { salt: MASTER_KEY },
  transfer: { token: { salt: MASTER_KEY } },
  secrets: { encryptionKey: MASTER_KEY },
});
strapi.config.set("database", { connection: connection(), settings: { runMigrations: true } });
await strapi.load();
strapi.config.set("plugin::users-permissions.ratelimit", { enabled: false });
await grant("public", ["find", "findOne"]);
await grant("authenticated", ["find", "findOne", "create"]);
await addUser();
await strapi.start();

function connection() {
  if (!DATABASE_URL.startsWith("sqlite:")) {
    return {
      client: "postgres",
      connection: { connectionString: DATABASE_URL },
      pool: { min: 0, max: 10 },
    };
  }
  return {
    client: "sqlite",
    connection: { filename: DATABASE_URL.slice("sqlite:".length) },
    useNullAsDefault: true,
    pool: {
      afterCreate(connection, done) {
        connection.pragma("journal_mode = WAL");
        connection.pragma("synchronous = FULL");
        connection.pragma("cache_size = -16384");
        done(null, connection);
      },
    },
  };
}

async function grant(type, operations) {
  const role = await roleOf(type);
  const permissions = strapi.db.query("plugin::users-permissions.permission");
  for (const operation of operations) {
    const action = `api::article.article.${operation}`;
    const found = await permissions.findOne({ where: { action, role: role.id } });
    if (!found) await permissions.create({ data: { action, role: role.id } });
  }
}

async function addUser() {
  const users = strapi.db.query("plugin::users-permissions.user");
  if (await users.findOne({ where: { email } })) return;
  const { id: role } = await roleOf("authenticated");
  const user = { username: email, email, password, role, confirmed: true, provider: "local" };
  await strapi.plugin("users-permissions").service("user").add(user);
}

function roleOf(type) {
  return strapi.db.query("plugin::users-permissions.role").findOne({ where: { type } });
}

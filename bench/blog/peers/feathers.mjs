// The same API in Feathers 5 on Koa with Knex, in the shape that its generator writes: schemas of
// TypeBox, validators and resolvers as hooks, the JWT and the local strategy, the latter with
// Argon2id.
import { randomUUID } from "node:crypto";
import { authenticate, AuthenticationService, JWTStrategy } from "@feathersjs/authentication";
import { LocalStrategy } from "@feathersjs/authentication-local";
import { feathers } from "@feathersjs/feathers";
import { KnexService } from "@feathersjs/knex";
import { bodyParser, cors, errorHandler, koa, parseAuthentication, rest } from "@feathersjs/koa";
import { Ajv, hooks, resolve } from "@feathersjs/schema";
import { getValidator, querySyntax, Type } from "@feathersjs/typebox";
import knex from "knex";
import compress from "koa-compress";
import helmet from "koa-helmet";
import { verifyPassword } from "./password.mjs";
import { postgres, sqlite, user } from "./schema.mjs";

const { PORT, DATABASE_URL, JWT_SECRET } = process.env;
const isSqlite = DATABASE_URL.startsWith("sqlite:");
const dialect = isSqlite ? sqlite : postgres;
const db = await openDatabase();

const dataValidator = new Ajv({ useDefaults: true });
const queryValidator = new Ajv({ coerceTypes: true });
const string = (options) => Type.String(options);

const articleSchema = Type.Object(
  {
    id: string(),
    title: string({ minLength: 1, maxLength: 200 }),
    content: string({ maxLength: 50_000, default: "" }),
    author: string(),
    createdAt: string(),
    updatedAt: string(),
  },
  { $id: "Article", additionalProperties: false },
);
const newArticle = Type.Pick(articleSchema, ["title", "content"], { $id: "NewArticle" });
const articleQuery = Type.Intersect(
  [
    querySyntax(Type.Pick(articleSchema, ["id", "createdAt", "title"])),
    Type.Object(
      { q: Type.Optional(string({ minLength: 3, maxLength: 100 })) },
      { additionalProperties: false },
    ),
  ],
  { additionalProperties: false },
);
/* oxlint-disable typescript/require-await -- Resolvers are functions that give promises. */
const articleData = resolve({
  id: async () => randomUUID(),
  title: async (value) => value.trim(),
  content: async (value) => value.trim(),
  author: async (_value, _article, { params }) => params.user.id,
  createdAt: async () => new Date().toISOString(),
  updatedAt: async () => new Date().toISOString(),
});
const articleResult = resolve({});
const articleExternal = resolve({ author: async () => undefined });

class ArticleService extends KnexService {
  createQuery(params) {
    const { q, ...query } = params.query ?? {};
    const builder = super.createQuery({ ...params, query });
    if (!q) return builder;
    const { sql, values } = dialect.matching(q);
    return builder.whereRaw(sql, values);
  }
}

class Argon2Strategy extends LocalStrategy {
  async comparePassword(entity, password) {
    if (await verifyPassword(password, entity.password)) return entity;
    throw new Error("Invalid login");
  }
}

const app = koa(feathers());
app.set("authentication", {
  entity: "user",
  service: "users",
  secret: JWT_SECRET,
  authStrategies: ["jwt", "local"],
  jwtOptions: { algorithm: "HS256", expiresIn: "1d", audience: "https://blog", issuer: "blog" },
  local: { usernameField: "email", passwordField: "password" },
});
app.use(helmet());
app.use(cors());
app.use(compress({ threshold: 1024 }));
app.use(async (context, next) => {
  context.set("x-request-id", randomUUID());
  await next();
});
app.use(errorHandler());
app.use(parseAuthentication());
app.use(bodyParser());
app.configure(rest());

app.use("users", new KnexService({ id: "id", Model: db, name: "users" }), {
  methods: ["find", "get"],
});
app.service("users").hooks({
  around: {
    all: [hooks.resolveExternal(resolve({ password: async () => undefined }))],
    find: [authenticate("jwt")],
    get: [authenticate("jwt")],
  },
});

const authentication = new AuthenticationService(app);
authentication.register("jwt", new JWTStrategy());
authentication.register("local", new Argon2Strategy());
app.use("authentication", authentication);

const paginate = { default: 30, max: 100 };
app.use("articles", new ArticleService({ id: "id", Model: db, name: "articles", paginate }), {
  methods: ["find", "get", "create"],
});
app.service("articles").hooks({
  around: {
    all: [hooks.resolveExternal(articleExternal), hooks.resolveResult(articleResult)],
    create: [authenticate("jwt")],
  },
  before: {
    all: [hooks.validateQuery(getValidator(articleQuery, queryValidator))],
    create: [
      hooks.validateData(getValidator(newArticle, dataValidator)),
      hooks.resolveData(articleData),
    ],
  },
});

await app.listen(Number(PORT), "127.0.0.1");

async function openDatabase() {
  if (!isSqlite) {
    const opened = knex({ client: "pg", connection: DATABASE_URL, pool: { min: 0, max: 10 } });
    await opened.raw(postgres.schema);
    await opened.raw(postgres.addUser.replace(/\$\d/g, "?"), user);
    return opened;
  }
  const opened = knex({
    client: "better-sqlite3",
    connection: { filename: DATABASE_URL.slice("sqlite:".length) },
    useNullAsDefault: true,
    pool: {
      afterCreate(connection, done) {
        for (const setting of sqlite.settings) connection.pragma(setting);
        connection.exec(sqlite.schema);
        done(null, connection);
      },
    },
  });
  await opened.raw(sqlite.addUser, user);
  return opened;
}

// The same API in NestJS on Fastify with TypeORM, with the decorators that the compiler would write
// out of TypeScript: DTOs of class-validator behind the ValidationPipe, a guard, repositories, and
// Fastify's plugins around.
// oxlint-disable-next-line import/no-unassigned-import -- It adds to the global `Reflect`.
import "reflect-metadata";
import { randomUUID } from "node:crypto";
import compress from "@fastify/compress";
import etag from "@fastify/etag";
import helmet from "@fastify/helmet";
import {
  Body,
  Controller,
  Get,
  Header,
  Module,
  NotFoundException,
  Param,
  Post,
  Query,
  Req,
  Res,
  UnauthorizedException,
  UseGuards,
  ValidationPipe,
} from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { InjectRepository, TypeOrmModule } from "@nestjs/typeorm";
import { Transform, Type } from "class-transformer";
import { IsEmail, IsInt, IsOptional, IsString, Length, Max, MaxLength, Min } from "class-validator";
import jwt from "jsonwebtoken";
import { __decorate, __metadata, __param } from "tslib";
import { DataSource, EntitySchema } from "typeorm";
import { hashPassword, verifyPassword } from "./password.mjs";
import { postgres, sqlite, user as benchUser } from "./schema.mjs";

const { PORT, DATABASE_URL, JWT_SECRET } = process.env;
const isSqlite = DATABASE_URL.startsWith("sqlite:");
const dialect = isSqlite ? sqlite : postgres;
const nobody = await hashPassword("");

const text = { type: "text" };
const User = new EntitySchema({
  name: "User",
  tableName: "users",
  columns: {
    id: { ...text, primary: true },
    email: text,
    role: text,
    password: text,
    sessionVersion: { type: "integer" },
  },
});
const Article = new EntitySchema({
  name: "Article",
  tableName: "articles",
  columns: {
    id: { ...text, primary: true },
    title: text,
    content: text,
    author: { ...text, select: false },
    createdAt: text,
    updatedAt: text,
  },
});

const trim = () => Transform(({ value }) => (typeof value === "string" ? value.trim() : value));

class NewArticle {
  content = "";
}
property(NewArticle, "title", [trim(), IsString(), Length(1, 200)]);
property(NewArticle, "content", [trim(), IsString(), MaxLength(50_000)]);

// oxlint-disable-next-line typescript/no-extraneous-class -- Its properties are what is sent.
class Credentials {}
property(Credentials, "email", [IsEmail(), MaxLength(254)]);
property(Credentials, "password", [IsString(), MaxLength(200)]);

class ListQuery {
  page = 1;
  limit = 30;
}
property(ListQuery, "page", [Type(() => Number), IsInt(), Min(1)]);
property(ListQuery, "limit", [Type(() => Number), IsInt(), Min(1), Max(100)]);
property(ListQuery, "q", [IsOptional(), trim(), IsString(), Length(3, 100)]);

class SessionGuard {
  constructor(users) {
    this.users = users;
  }
  async canActivate(context) {
    const request = context.switchToHttp().getRequest();
    try {
      const token = request.headers.authorization?.replace(/^Bearer /, "");
      const { sub, sv } = jwt.verify(token, JWT_SECRET, { algorithms: ["HS256"] });
      request.user = await this.users.findOneBy({ id: sub });
      if (request.user?.sessionVersion === sv) return true;
    } catch {
      // A token that does not hold is as good as none.
    }
    throw new UnauthorizedException();
  }
}
constructed(SessionGuard, [InjectRepository(User)]);

class ArticlesController {
  constructor(articles) {
    this.articles = articles;
  }
  async show(id) {
    const found = await this.articles.findOneBy({ id });
    if (!found) throw new NotFoundException();
    return found;
  }
  async list({ page, limit, q }, reply) {
    const builder = this.articles
      .createQueryBuilder("articles")
      .orderBy({ "articles.createdAt": "DESC", "articles.id": "DESC" })
      .take(limit)
      .skip((page - 1) * limit);
    if (q) builder.where(...condition(q));
    const [rows, total] = await builder.getManyAndCount();
    const last = Math.max(1, Math.ceil(total / limit));
    const words = q ? `&q=${encodeURIComponent(q)}` : "";
    const link = (rel, at) => `</articles?page=${at}&limit=${limit}${words}>; rel="${rel}"`;
    const links = [link("first", 1), link("last", last)];
    if (page < last) links.push(link("next", page + 1));
    reply.header("X-Total-Count", String(total));
    reply.header("Link", links.join(", "));
    return rows;
  }
  async create({ title, content }, request, reply) {
    const createdAt = new Date().toISOString();
    const id = randomUUID();
    const row = { id, title, content, createdAt, updatedAt: createdAt };
    await this.articles.insert({ ...row, author: request.user.id });
    reply.header("Location", `/articles/${id}`);
    return row;
  }
}
method(ArticlesController, "show", [Get(":id"), __param(0, Param("id"))], [String]);
method(
  ArticlesController,
  "list",
  [Get(), __param(0, Query()), __param(1, Res({ passthrough: true }))],
  [ListQuery, Object],
);
method(
  ArticlesController,
  "create",
  [
    UseGuards(SessionGuard),
    Post(),
    __param(0, Body()),
    __param(1, Req()),
    __param(2, Res({ passthrough: true })),
  ],
  [NewArticle, Object, Object],
);
constructed(ArticlesController, [InjectRepository(Article)], Controller("articles"));

class AuthController {
  constructor(users) {
    this.users = users;
  }
  async signIn(credentials) {
    const user = await this.users.findOneBy({ email: credentials.email.toLowerCase() });
    const matches = await verifyPassword(credentials.password, user?.password ?? nobody);
    if (!user || !matches) throw new UnauthorizedException();
    const { id, email, role, sessionVersion } = user;
    const token = jwt.sign({ sub: id, sv: sessionVersion }, JWT_SECRET, { expiresIn: "1d" });
    return { token, user: { id, email, role } };
  }
}
method(
  AuthController,
  "signIn",
  [Post(), Header("Cache-Control", "no-store"), __param(0, Body())],
  [Credentials],
);
constructed(AuthController, [InjectRepository(User)], Controller("auth"));

// oxlint-disable-next-line typescript/no-extraneous-class -- All of it is in its decorator.
class AppModule {}
__decorate(
  [
    Module({
      imports: [
        TypeOrmModule.forRoot({ ...connection(), entities: [User, Article], retryAttempts: 0 }),
        TypeOrmModule.forFeature([User, Article]),
      ],
      controllers: [ArticlesController, AuthController],
      providers: [SessionGuard],
    }),
  ],
  AppModule,
);

const adapter = new FastifyAdapter({ genReqId: () => randomUUID() });
const app = await NestFactory.create(AppModule, adapter, { logger: false });
await app.register(helmet);
await app.register(compress, { threshold: 1024 });
await app.register(etag);
app.enableCors();
const fastify = app.getHttpAdapter().getInstance();
fastify.addHook("onRequest", (request, reply, done) => {
  reply.header("x-request-id", request.id);
  done();
});
app.useGlobalPipes(
  new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }),
);
const database = app.get(DataSource);
if (!isSqlite) await database.query(postgres.schema);
await database.query(dialect.addUser, benchUser);
await app.listen(Number(PORT), "127.0.0.1");

function connection() {
  if (!isSqlite) return { type: "postgres", url: DATABASE_URL, poolSize: 10 };
  return {
    type: "better-sqlite3",
    database: DATABASE_URL.slice("sqlite:".length),
    prepareDatabase(db) {
      for (const setting of sqlite.settings) db.pragma(setting);
      db.exec(sqlite.schema);
    },
  };
}

/** TypeORM has named parameters. */
function condition(q) {
  const { sql, values } = dialect.matching(q);
  let number = 0;
  const named = sql.replaceAll("?", () => `:word${(number += 1)}`);
  return [named, Object.fromEntries(values.map((value, at) => [`word${at + 1}`, value]))];
}

function property(type, name, decorators) {
  __decorate([...decorators], type.prototype, name, undefined);
}

function method(type, name, decorators, parameters) {
  const types = __metadata("design:paramtypes", parameters);
  __decorate([...decorators, types], type.prototype, name, null);
}

function constructed(type, parameters, ...decorators) {
  const given = parameters.map((decorator, index) => __param(index, decorator));
  __decorate([...decorators, ...given, __metadata("design:paramtypes", [Object])], type);
}

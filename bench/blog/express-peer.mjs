// The blog's three measured routes as an experienced Express user writes them: node:sqlite with prepared
// statements, WAL and synchronous=FULL, zod for the body, jsonwebtoken for the token, the user loaded per request.
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import compression from "compression";
import cors from "cors";
import express from "express";
import helmet from "helmet";
import jwt from "jsonwebtoken";
import { z } from "zod";

const { PORT, DATABASE, JWT_SECRET } = process.env;
const db = new DatabaseSync(DATABASE);
db.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS users (id TEXT PRIMARY KEY, role TEXT, session_version INTEGER);
  CREATE TABLE IF NOT EXISTS articles (
    id TEXT PRIMARY KEY, title TEXT, content TEXT, author TEXT, created_at TEXT, updated_at TEXT
  );
  CREATE INDEX IF NOT EXISTS articles_created ON articles (created_at DESC, id DESC);
  INSERT OR IGNORE INTO users VALUES ('bench', 'user', 1);
`);
const columns = "id, title, content, created_at AS createdAt, updated_at AS updatedAt";
const getUser = db.prepare("SELECT * FROM users WHERE id = ?");
const getArticle = db.prepare(`SELECT ${columns} FROM articles WHERE id = ?`);
const listArticles = db.prepare(
  `SELECT ${columns} FROM articles ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`,
);
const countArticles = db.prepare("SELECT count(*) AS total FROM articles");
const insertArticle = db.prepare("INSERT INTO articles VALUES (?, ?, ?, ?, ?, ?)");

const body = z.object({
  title: z.string().trim().min(1).max(200),
  content: z.string().trim().max(50_000).default(""),
});
const query = z.object({
  page: z.coerce.number().int().min(1).default(1),
  limit: z.coerce.number().int().min(1).max(100).default(30),
});

const app = express();
app.disable("x-powered-by");
// What the blog has around its routes, as far as the usual packages have it.
app.use(helmet());
app.use(cors());
app.use(compression({ threshold: 1024 }));
app.use((request, response, next) => {
  response.setHeader("x-request-id", randomUUID());
  next();
});
app.use(express.json());
app.use(express.urlencoded({ extended: false }));

function authenticate(request, response, next) {
  const token = request.headers.authorization?.replace(/^Bearer /, "");
  try {
    const { sub, sv } = jwt.verify(token, JWT_SECRET, { algorithms: ["HS256"] });
    request.user = getUser.get(sub);
    if (request.user?.session_version !== sv) throw new Error("ended");
  } catch {
    return response.status(401).json({ error: "unauthorized" });
  }
  next();
}

app.get("/articles/:id", (request, response) => {
  const article = getArticle.get(request.params.id);
  if (!article) return response.status(404).json({ error: "not found" });
  response.json(article);
});

app.get("/articles", (request, response) => {
  const parsed = query.safeParse(request.query);
  if (!parsed.success) return response.status(400).json({ error: parsed.error.issues });
  const { page, limit } = parsed.data;
  const { total } = countArticles.get();
  const last = Math.max(1, Math.ceil(total / limit));
  const link = (rel, at) => `</articles?page=${at}&limit=${limit}>; rel="${rel}"`;
  response.set("X-Total-Count", String(total));
  response.set("Link", [link("first", 1), link("next", page + 1), link("last", last)].join(", "));
  response.json(listArticles.all(limit, (page - 1) * limit));
});

app.post("/articles", authenticate, (request, response) => {
  const parsed = body.safeParse(request.body);
  if (!parsed.success) return response.status(400).json({ error: parsed.error.issues });
  const { title, content } = parsed.data;
  const id = randomUUID();
  const now = new Date().toISOString();
  insertArticle.run(id, title, content, request.user.id, now, now);
  response.status(201).location(`/articles/${id}`);
  response.json({ id, title, content, createdAt: now, updatedAt: now });
});

app.listen(Number(PORT), "127.0.0.1", () => {
  console.log(`token ${jwt.sign({ sub: "bench", sv: 1 }, JWT_SECRET, { expiresIn: "1d" })}`);
});

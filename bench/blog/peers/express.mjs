// The blog's measured routes as an experienced Express user writes them: hand-written SQL, zod for
// bodies and parameters, jsonwebtoken for the token, the user loaded per request, and the usual
// packages around.
import { randomUUID } from "node:crypto";
import compression from "compression";
import cors from "cors";
import express from "express";
import helmet from "helmet";
import jwt from "jsonwebtoken";
import { z } from "zod";
import { openDatabase } from "./express-database.mjs";
import { hashPassword, verifyPassword } from "./password.mjs";

const { PORT, DATABASE_URL, JWT_SECRET } = process.env;
const database = await openDatabase(DATABASE_URL);
// Who is not there costs the same work as who is.
const nobody = await hashPassword("");

const newArticle = z.object({
  title: z.string().trim().min(1).max(200),
  content: z.string().trim().max(50_000).default(""),
});
const credentials = z.object({ email: z.email().max(254), password: z.string().max(200) });
const listQuery = z.object({
  page: z.coerce.number().int().min(1).default(1),
  limit: z.coerce.number().int().min(1).max(100).default(30),
  q: z.string().trim().min(3).max(100).optional(),
});

/* oxlint-disable oxc/no-async-endpoint-handlers -- Express 5 awaits handlers. */
const app = express();
app.disable("x-powered-by");
app.use(helmet());
app.use(cors());
app.use(compression({ threshold: 1024 }));
app.use((request, response, next) => {
  response.setHeader("x-request-id", randomUUID());
  next();
});
app.use(express.json());
app.use(express.urlencoded({ extended: false }));

async function authenticate(request, response, next) {
  const token = request.headers.authorization?.replace(/^Bearer /, "");
  try {
    const { sub, sv } = jwt.verify(token, JWT_SECRET, { algorithms: ["HS256"] });
    request.user = await database.userById(sub);
    if (request.user?.sessionVersion !== sv) throw new Error("ended");
  } catch {
    return response.status(401).json({ error: "unauthorized" });
  }
  next();
}

app.get("/articles/:id", async (request, response) => {
  const article = await database.article(request.params.id);
  if (!article) return response.status(404).json({ error: "not found" });
  response.json(article);
});

app.get("/articles", async (request, response) => {
  const parsed = listQuery.safeParse(request.query);
  if (!parsed.success) return response.status(400).json({ error: parsed.error.issues });
  const { page, limit, q } = parsed.data;
  const { rows, total } = await database.list({ q, limit, offset: (page - 1) * limit });
  const last = Math.max(1, Math.ceil(total / limit));
  const words = q ? `&q=${encodeURIComponent(q)}` : "";
  const link = (rel, at) => `</articles?page=${at}&limit=${limit}${words}>; rel="${rel}"`;
  const links = [link("first", 1), link("last", last)];
  if (page < last) links.push(link("next", page + 1));
  response.set("X-Total-Count", String(total));
  response.set("Link", links.join(", "));
  response.json(rows);
});

app.post("/articles", authenticate, async (request, response) => {
  const parsed = newArticle.safeParse(request.body);
  if (!parsed.success) return response.status(400).json({ error: parsed.error.issues });
  const { title, content } = parsed.data;
  const id = randomUUID();
  const now = new Date().toISOString();
  await database.insert([id, title, content, request.user.id, now, now]);
  response.status(201).location(`/articles/${id}`);
  response.json({ id, title, content, createdAt: now, updatedAt: now });
});

app.post("/auth", async (request, response) => {
  const parsed = credentials.safeParse(request.body);
  if (!parsed.success) return response.status(400).json({ error: parsed.error.issues });
  const user = await database.userByEmail(parsed.data.email.toLowerCase());
  const matches = await verifyPassword(parsed.data.password, user?.password ?? nobody);
  if (!user || !matches) return response.status(401).json({ error: "unauthorized" });
  const { id, email, role, sessionVersion } = user;
  const token = jwt.sign({ sub: id, sv: sessionVersion }, JWT_SECRET, { expiresIn: "1d" });
  response.status(201).set("Cache-Control", "no-store");
  response.json({ token, user: { id, email, role } });
});

app.listen(Number(PORT), "127.0.0.1");

// The least that a server with a database is: one route, one statement.
import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";

const { PORT, DATABASE_URL } = process.env;
const database = new DatabaseSync(DATABASE_URL.slice("sqlite:".length));
database.exec("CREATE TABLE IF NOT EXISTS articles (id TEXT PRIMARY KEY, title TEXT)");
const list = database.prepare("SELECT id, title FROM articles LIMIT 30");
createServer((_request, response) => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(list.all()));
}).listen(Number(PORT), "127.0.0.1");

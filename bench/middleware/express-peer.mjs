import compression from "compression";
import cors from "cors";
import express from "express";
import helmet from "helmet";
import morgan from "morgan";
import { body, isLarge, type } from "./body.mjs";

const app = express();
const hasEtag = process.env.ETAG !== "off";
if (!hasEtag) app.disable("etag");
if (!isLarge) {
  app.use(morgan("combined", { stream: { write: () => {} } }));
  app.set("trust proxy", true);
  app.use((request, response, next) => {
    response.setHeader("X-Request-ID", request.get("x-request-id") ?? crypto.randomUUID());
    next();
  });
  app.get("/ping", (_request, response) => response.type("text/plain").send("pong"));
  app.get("/health", (_request, response) => response.json([]));
  app.use(helmet());
  app.use(cors({ origin: ["https://example.com"] }));
}
app.use(compression());
if (!hasEtag) {
  app.use((_request, response, next) => {
    response.set({ etag: '"1"', "cache-control": "max-age=60, no-cache" });
    next();
  });
}
app.use((_request, response) => response.type(type).send(body));
app.listen(Number(process.env.PORT), "127.0.0.1");

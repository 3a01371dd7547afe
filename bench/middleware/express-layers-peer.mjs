// CORS, security headers and compression in Express: of npm, or ours by `toExpress`, as the environment says.
import { compress, cors as ourCors, secure } from "@fetchwork/middleware";
import { toExpress } from "@fetchwork/middleware/express";
import compression from "compression";
import cors from "cors";
import express from "express";
import helmet from "helmet";
import { body, type } from "./body.mjs";

const origin = ["https://example.com"];
const layers = {
  none: () => [],
  npm: () => [cors({ origin }), helmet(), compression()],
  fetchwork: () =>
    [ourCors({ allowedOrigins: origin }), secure(), compress({ encodings: ["gzip"] })].map(
      (layer) => toExpress(layer),
    ),
  "npm headers": () => [cors({ origin }), helmet()],
  "fetchwork headers": () =>
    [ourCors({ allowedOrigins: origin }), secure()].map((layer) => toExpress(layer)),
};

const app = express().disable("etag");
for (const layer of layers[process.env.LAYERS]()) app.use(layer);
app.use((_request, response) => response.type(type).send(body));
app.listen(Number(process.env.PORT), "127.0.0.1");

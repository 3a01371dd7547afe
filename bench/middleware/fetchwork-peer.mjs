// Ours, with the ten layers; BODY=large serves 100 KiB of JSON through `gzip` alone.
import { text, wrap } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { gzip } from "@fetchwork/middleware";
import { body, isLarge, type } from "./body.mjs";
import { tenLayers } from "./layers.mjs";

const init = { headers: { "content-type": type } };
const handler = () => text(body, init);
const layers = isLarge ? [gzip()] : tenLayers();
await serve(wrap(handler, ...layers), { port: Number(process.env.PORT), hostname: "127.0.0.1" });

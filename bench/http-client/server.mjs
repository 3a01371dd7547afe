// Answers GET with 1 KiB of JSON, and POST with a short one after reading its body; as little else
// as possible.
import { createServer } from "node:http";

const items = Array.from({ length: 11 }, (_, id) => ({
  id,
  name: `item ${id}`,
  tags: ["a", "b"],
  price: id * 1.5,
  stock: "in store",
}));
const page = Buffer.from(JSON.stringify(items).padEnd(1_024, " "));
const taken = Buffer.from('{"ok":true}');
const json = { "content-type": "application/json" };

const server = createServer((request, response) => {
  if (request.method === "GET") {
    response.writeHead(200, { ...json, "content-length": page.byteLength }).end(page);
    return;
  }
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { ...json, "content-length": taken.byteLength }).end(taken);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("disconnect", () => process.exit());

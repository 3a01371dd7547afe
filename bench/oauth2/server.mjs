// A token server and a resource, in a separate process: `fork("server.mjs")` sends its port.
import http from "node:http";

const token = JSON.stringify({
  access_token: "2YotnFZFEjr1zCsicMWpAA",
  token_type: "bearer",
  expires_in: 3600,
  scope: "read",
});
const resource = JSON.stringify({ id: 1, name: "a resource" });

const server = http.createServer((request, response) => {
  request.resume().on("end", () => {
    const body = request.url === "/token" ? token : resource;
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "cache-control": "no-store",
    });
    response.end(body);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("disconnect", () => process.exit());

// Receivers in a separate process: one that is well and notes how long events took, and three
// that hang, drip, or hang and fail in turn. Says their URLs.
import { createServer } from "node:http";

let delays = [];
let waiting;
let failures = 0;

const good = await listen((request, response) => {
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (part) => (text += part));
  request.on("end", () => {
    response.end();
    const { sentAt } = JSON.parse(text);
    // Both processes read the same clock.
    if (sentAt !== undefined) delays.push(Number(process.hrtime.bigint() - BigInt(sentAt)) / 1e6);
    tell();
  });
});
const bad = await Promise.all(
  [
    () => undefined,
    (_, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write("x"), 500);
      response.on("close", () => clearInterval(timer));
    },
    (_, response) => {
      failures += 1;
      if (failures % 2 === 0) response.writeHead(500).end();
    },
  ].map(listen),
);
process.on("message", ({ task, least }) => {
  if (task === "forget") {
    delays = [];
    process.send({});
  } else {
    waiting = least;
    tell();
  }
});
process.on("disconnect", () => process.exit());
process.send({ good, bad });

function tell() {
  if (waiting === undefined || delays.length < waiting) return;
  waiting = undefined;
  process.send({ delays });
}

function listen(listener) {
  const server = createServer(listener);
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${server.address().port}`));
  });
}

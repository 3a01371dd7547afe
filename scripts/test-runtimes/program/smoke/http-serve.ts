import { json } from "@fetchwork/http";
import { fromNodeListener, serve } from "@fetchwork/http/serve";
import { expect, type Platform } from "../platform.ts";

/**
 * Listens with `serve`, tells a handler who asks, hands on to a listener of Node, and closes after
 * the last answer.
 */
export async function smoke(_platform: Platform): Promise<void> {
  const reports: number[] = [];
  const legacy = fromNodeListener((request, response) => {
    response.setHeader("x-legacy", request.method ?? "");
    response.end("from Node's listener");
  });
  const server = await serve(
    async (request, context) => {
      context.onFinish(({ status }) => reports.push(status));
      if (request.url.endsWith("/legacy")) return legacy(request, context);
      return json({ ip: context.ip, body: await request.text() }, { status: 201 });
    },
    { port: 0, hostname: "127.0.0.1", signals: false },
  );
  const origin = `http://127.0.0.1:${server.port}`;
  const posted = await fetch(`${origin}/`, { method: "POST", body: "grün" });
  expect("a status", posted.status, 201);
  expect("a body", await posted.json(), { ip: "127.0.0.1", body: "grün" });
  const old = await fetch(`${origin}/legacy`);
  expect("a header of the listener", old.headers.get("x-legacy"), "GET");
  expect("a body of the listener", await old.text(), "from Node's listener");
  await server.close({ gracePeriod: 2000 });
  await server.finished;
  expect("finished exchanges", reports, [201, 200]);
  const isClosed = await fetch(origin).then(
    () => false,
    () => true,
  );
  expect("closed", isClosed, true);
}

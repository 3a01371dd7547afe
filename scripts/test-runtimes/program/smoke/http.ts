import { Client, changeHeaders, json, runHandler, TimeoutError, wrap } from "@fetchwork/http";
import { expect, type Platform } from "../platform.ts";

/**
 * Runs a handler with a middleware on the runtime's server, and sends to it with the client of the
 * runtime.
 */
export async function smoke(platform: Platform): Promise<void> {
  let tries = 0;
  const handler = wrap(
    async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/late") await new Promise((resolve) => setTimeout(resolve, 1000));
      if (pathname === "/missing") return json({ error: "missing" }, { status: 404 });
      if (pathname === "/flaky" && (tries += 1) < 3) return json({}, { status: 503 });
      if (pathname === "/stream") return new Response(countTo(1000));
      return json({ pathname, body: await request.text() });
    },
    (next) => async (request, context) => {
      const response = await next(request, context);
      return changeHeaders(response, context, (headers) => headers.set("x-smoke", "yes"));
    },
  );
  const listener = await platform.listen((request) => runHandler(handler, request, {}));

  const client = new Client({ baseUrl: listener.origin });
  const sent = await client.send({ method: "POST", baseUrl: "/echo", body: { text: "grün" } });
  expect("an answer", [sent.statusCode, sent.header("x-smoke")], [200, "yes"]);
  expect("its body", sent.json(), { pathname: "/echo", body: '{"text":"grün"}' });
  expect("a refusal", (await client.send({ baseUrl: "/missing" })).statusCode, 404);

  const retry = { retries: 2, baseDelay: 1 };
  const late = await client.send({ baseUrl: "/flaky" }, { retry });
  expect("the third try", [late.statusCode, tries], [200, 3]);

  let bytes = 0;
  const streamed = await client.stream({ baseUrl: "/stream" });
  for await (const piece of streamed.body) bytes += piece.byteLength;
  expect("bytes of a stream", bytes, 1000 * 100);

  const { error } = await client.trySend({ baseUrl: "/late" }, { timeout: 200 });
  expect("a timeout", error instanceof TimeoutError, true);
  await client.close();
  await listener.close();
}

function countTo(count: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at === count) return controller.close();
      at += 1;
      controller.enqueue(new Uint8Array(100).fill(at % 256));
    },
  });
}

import { Client } from "@fetchwork/http";
import { undiciTransport } from "@fetchwork/http/undici";
import { expect, type Platform } from "../platform.ts";

/** Sends over connections of undici: a body, a stream, and an answer as it is on the wire. */
export async function smoke(platform: Platform): Promise<void> {
  const listener = await platform.listen(async (request) => new Response(await request.text()));
  const transport = undiciTransport({ decompress: false });
  const client = new Client({ transport, baseUrl: listener.origin });
  const sent = await client.send({ method: "PUT", baseUrl: "/", body: { a: 1 } });
  expect("an answer", [sent.statusCode, sent.body], [200, '{"a":1}']);
  let text = "";
  const streamed = await client.stream({ method: "POST", baseUrl: "/", body: "x".repeat(200_000) });
  for await (const piece of streamed.body) text += new TextDecoder().decode(piece);
  expect("bytes of a stream", text.length, 200_000);
  await client.close();
  await transport.close();
  await listener.close();
}

import { createWebMiddleware, Webhooks } from "@fetchwork/webhooks";
import { expect, type Platform } from "../platform.ts";

/** Receives a signed delivery over a socket, once, and refuses a forged one. */
export async function smoke(platform: Platform): Promise<void> {
  const seen: string[] = [];
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const webhooks = new Webhooks({
    secret: "mysecret",
    replay: { dropEqualBodiesFor: 60_000 },
    log,
  });
  webhooks.on("push", ({ id, payload }) => void seen.push(`${id} ${JSON.stringify(payload)}`));
  const receive = createWebMiddleware(webhooks);
  const listener = await platform.listen(receive);

  const body = '{"emoji":"😀"}';
  const signature = await webhooks.sign(body);
  const deliver = async (id: string, signed: string): Promise<number> => {
    const headers = {
      "content-type": "application/json",
      "x-github-event": "push",
      "x-github-delivery": id,
      "x-hub-signature-256": signed,
      "x-vendor-event": "push",
      "x-vendor-delivery": id,
    };
    const init = { method: "POST", headers, body };
    const response = await fetch(`${listener.origin}/api/vendor/webhooks`, init);
    await response.body?.cancel();
    return response.status;
  };
  expect("a delivery", await deliver("1", signature), 200);
  expect("its repetition", await deliver("1", signature), 200);
  expect("a forged one", await deliver("2", `sha256=${"0".repeat(64)}`), 400);
  expect("what was handled", seen, [`1 ${body}`]);
  await listener.close();
}

function ignore(): void {}

import { createWebMiddleware, Webhooks } from "@fetchwork/webhooks/github";
import { expect, type Platform } from "../platform.ts";

/** Receives a delivery that GitHub signed, and refuses a changed one. */
export async function smoke(platform: Platform): Promise<void> {
  const seen: string[] = [];
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const webhooks = new Webhooks({ secret: "It's a Secret to Everybody", log });
  webhooks.on("push", ({ id, payload }) => void seen.push(`${id} ${payload.ref}`));
  const listener = await platform.listen(createWebMiddleware(webhooks));

  const body = '{"ref":"refs/heads/main"}';
  const signature = await webhooks.sign(body);
  const deliver = async (text: string): Promise<number> => {
    const headers = {
      "content-type": "application/json",
      "x-github-event": "push",
      "x-github-delivery": "1",
      "x-hub-signature-256": signature,
    };
    const init = { method: "POST", headers, body: text };
    const response = await fetch(`${listener.origin}/api/github/webhooks`, init);
    await response.body?.cancel();
    return response.status;
  };
  expect("a delivery", await deliver(body), 200);
  expect("a changed one", await deliver(`${body} `), 400);
  expect("what was handled", seen, ["1 refs/heads/main"]);
  await listener.close();
}

function ignore(): void {}

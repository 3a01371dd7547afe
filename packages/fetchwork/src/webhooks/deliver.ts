import { send } from "@fetchwork/http";
import type { Vendor } from "@fetchwork/webhooks";
import type { CommandIo } from "../command-io.ts";
import { colours, jsonLine, oneLine } from "../terminal-text.ts";

/** A delivery on its way out. */
export interface Outgoing {
  readonly url: string;
  /** All but the signature. */
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly id: string;
  /** Absent to send the headers as they are. */
  readonly signing?: { readonly vendor: Vendor; readonly secret: string } | undefined;
}

/** Signs and sends a delivery and prints what came back. Resolves to the exit code: 1 unless the status is 2xx. */
export async function deliver(
  { url, headers, body, id, signing }: Outgoing,
  { io, asJson }: { readonly io: CommandIo; readonly asJson: boolean },
): Promise<number> {
  if (signing !== undefined) {
    const { vendor, secret } = signing;
    const timestamp = Math.floor(Date.now() / 1000);
    const signature = await vendor.scheme.createKey(secret).sign({ id, timestamp, body });
    for (const [name, value] of Object.entries(signature)) headers.set(name, value);
  }
  const request = { method: "POST", baseUrl: url, headers: [...headers], body } as const;
  const response = await send(request, {
    signal: io.signal,
    redirect: false,
    maxResponseSize: 1_048_576,
    timeout: 30_000,
  });
  const { statusCode: status, ok } = response;
  if (asJson) {
    io.stdout.write(jsonLine({ id, url, status, body: response.body }));
  } else {
    const { green, red } = colours(io.stdout);
    const shown = oneLine(response.body.trim());
    io.stdout.write(`${(ok ? green : red)(String(status))}  ${oneLine(id)}  ${shown}\n`);
  }
  return ok ? 0 : 1;
}

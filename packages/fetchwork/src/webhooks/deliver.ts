import { stream } from "@fetchwork/http";
import { ByteCollector } from "@fetchwork/kit";
import type { Vendor } from "@fetchwork/webhooks";
import type { CommandIo } from "../command/command-io.ts";
import { colours, jsonLine, oneLine } from "../command/terminal-text.ts";

/** A delivery on its way out. */
export interface Outgoing {
  readonly url: string;
  /** All but the signature. */
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** Its identifier, for the signature and the output; absent when it has none. */
  readonly id: string | undefined;
  /** Absent to send the headers as they are. */
  readonly signing?: { readonly vendor: Vendor; readonly secret: string } | undefined;
}

/** Signs and sends a delivery and prints the response. Exit code: 1 unless it is 2xx. */
export async function deliver(
  { url, headers, body, id, signing }: Outgoing,
  { io, asJson }: { readonly io: CommandIo; readonly asJson: boolean },
): Promise<number> {
  if (signing !== undefined) {
    const { vendor, secret } = signing;
    const timestamp = Math.floor(Date.now() / 1000);
    const message = { id: id ?? crypto.randomUUID(), timestamp, body, url };
    const signature = await vendor.scheme.createKey(secret).sign(message);
    for (const [name, value] of Object.entries(signature)) headers.set(name, value);
  }
  const { status, ok, text } = await post({ url, headers, body, signal: io.signal });
  if (asJson) {
    io.stdout.write(jsonLine({ id, url, status, body: text }));
  } else {
    const { green, red } = colours(io.stdout);
    const shown = oneLine(text.trim());
    io.stdout.write(`${(ok ? green : red)(String(status))}  ${oneLine(id ?? "-")}  ${shown}\n`);
  }
  return ok ? 0 : 1;
}

/** A response to a delivery. */
export interface ReceivedResponse {
  readonly status: number;
  readonly ok: boolean;
  /** The beginning of its body. */
  readonly text: string;
  /** Type of its body. */
  readonly contentType: string | undefined;
}

/** Sends a delivery as it is. Redirects are not followed; it takes at most 30 seconds. */
export async function post({
  url,
  headers,
  body,
  signal,
}: Pick<Outgoing, "body" | "headers" | "url"> & {
  readonly signal: AbortSignal;
}): Promise<ReceivedResponse> {
  const request = { method: "POST", baseUrl: url, headers: [...headers], body } as const;
  const response = await stream(request, { signal, redirect: false, timeout: 30_000 });
  const { statusCode: status, ok } = response;
  const text = await readStart(response.body);
  return { status, ok, text, contentType: response.headers["content-type"]?.[0] };
}

/** Bytes of a response that are read; its status counts, whatever follows. */
const maximumResponse = 65_536;

/** Reads the beginning of a body, up to a limit. */
async function readStart(body: ReadableStream<Uint8Array>): Promise<string> {
  const bytes = new ByteCollector();
  try {
    for await (const chunk of body) {
      bytes.add(chunk.subarray(0, maximumResponse - bytes.size));
      if (bytes.size >= maximumResponse) break;
    }
  } catch {
    // Broken off: what came is shown.
  }
  return new TextDecoder().decode(bytes.join());
}

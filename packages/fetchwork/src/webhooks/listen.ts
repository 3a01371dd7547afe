import { resolve } from "node:path";
import { HttpUsageError, text, type Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import {
  createWebMiddleware,
  Webhooks,
  type UnknownPayload,
  type Vendor,
} from "@fetchwork/webhooks";
import type { CommandIo } from "../command-io.ts";
import { defineCommand, type Command } from "../command.ts";
import { saveDelivery, type SavedDelivery } from "./saved-delivery.ts";
import { colours, jsonLine, oneLine } from "../terminal-text.ts";
import { secretOf, vendorOf, vendorOptions } from "./vendor-options.ts";
import { wholeNumber } from "../whole-number.ts";

/** A delivery as it is printed. */
interface Seen {
  readonly at: string;
  readonly id: string;
  readonly event: string;
  /** Absent when no secret was given. */
  readonly verified?: boolean;
  /** What the sender was answered. */
  readonly status: number;
  readonly bytes: number;
  /** Where it was saved. */
  readonly file?: string;
}

/** `fetchwork webhooks listen`. */
export const listen: Command = defineCommand({
  summary: "Receive deliveries and print them",
  options: {
    port: { type: "string", short: "p", hint: "number", default: "8787", description: "0 for any" },
    host: { type: "string", hint: "address", default: "127.0.0.1", description: "Where to listen" },
    path: { type: "string", description: "Path of the receiver (default: the vendor's)" },
    ...vendorOptions,
    save: { type: "string", hint: "folder", description: "Save each delivery to a file" },
    count: { type: "string", hint: "number", description: "Stop after so many deliveries" },
    json: { type: "boolean", description: "Print one JSON object a line" },
  },
  async run({ values }, io) {
    const vendor = vendorOf(values);
    const { save, host } = values;
    const port = wholeNumber("port", values.port, 65_535);
    let left = values.count === undefined ? Infinity : wholeNumber("count", values.count, 1e9);
    const path = values.path ?? vendor.path;
    const secret = await secretOf(values, io);
    const receive = receiver(vendor, { path, secret });
    const done = new AbortController();
    const folder = save === undefined ? undefined : resolve(io.cwd, save);

    const handler: Handler = async (request) => {
      const body = await request.bytes();
      const delivery = toDelivery(request, body);
      const response = await receive(request, body);
      if (new URL(request.url).pathname !== path) return response;
      const { id, event } = namesOf(vendor, delivery);
      const file =
        folder === undefined
          ? {}
          : { file: await saveDelivery(delivery, { folder, name: `${event}-${id}` }) };
      const { status } = response;
      const verified = secret === undefined ? {} : { verified: status >= 200 && status < 300 };
      const seen = {
        at: delivery.receivedAt,
        id,
        event,
        ...verified,
        status,
        bytes: body.length,
        ...file,
      };
      print(seen, { io, asJson: values.json === true });
      left -= 1;
      if (left <= 0) done.abort();
      return response;
    };

    const server = await serve(handler, {
      port,
      hostname: host,
      signals: false,
      maxRequestBodySize: 26_214_400,
    });
    const origin = server.url.replace(/\/$/, "");
    io.stderr.write(
      `Listening on ${origin}${path}${secret === undefined ? ", without a secret" : ""}\n`,
    );
    await aborted(AbortSignal.any([io.signal, done.signal]));
    await server.close();
    return 0;
  },
});

type Receive = (request: Request, body: Uint8Array<ArrayBuffer>) => Response | Promise<Response>;

/** Answers as a receiver with that secret does; without one every POST to the path is taken. */
function receiver(
  vendor: Vendor,
  { path, secret }: { readonly path: string; readonly secret: string | undefined },
): Receive {
  if (!path.startsWith("/")) {
    throw new HttpUsageError("ERR_HTTP_OPTION", "--path must begin with a slash");
  }
  if (secret === undefined) {
    return ({ method, url }) =>
      method === "POST" && new URL(url).pathname === path
        ? text("ok\n")
        : text("not found\n", { status: 404 });
  }
  const log = { warn: () => {}, error: () => {} };
  const webhooks = new Webhooks({ secret, vendor, log });
  const middleware = createWebMiddleware(webhooks, { path });
  return (request, body) => {
    const { method, url, headers } = request;
    const init = method === "GET" || method === "HEAD" ? {} : { body };
    return middleware(new Request(url, { method, headers, ...init }));
  };
}

function toDelivery({ method, url, headers }: Request, body: Uint8Array): SavedDelivery {
  const { pathname, search } = new URL(url);
  return {
    receivedAt: new Date().toISOString(),
    method,
    path: pathname + search,
    headers: [...headers],
    body,
  };
}

function namesOf(vendor: Vendor, { headers, body }: SavedDelivery): { id: string; event: string } {
  const given = new Headers(headers.map(([name, value]): [string, string] => [name, value]));
  const payload = payloadOf(body);
  const header = (name: string | undefined): string => (name && given.get(name)) || "";
  const { id, name } = vendor.describe?.(given, payload) ?? {
    id: header(vendor.deliveryHeader),
    name: header(vendor.eventHeader),
  };
  const action = typeof payload["action"] === "string" ? `.${payload["action"]}` : "";
  return { id, event: `${name || "?"}${action}` };
}

function payloadOf(body: Uint8Array): UnknownPayload {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function print(
  seen: Seen,
  { io, asJson }: { readonly io: CommandIo; readonly asJson: boolean },
): void {
  if (asJson) {
    io.stdout.write(jsonLine(seen));
    return;
  }
  const { green, red, dim } = colours(io.stdout);
  const { at, id, event, verified, status, bytes, file } = seen;
  const mark =
    verified === undefined ? dim("unverified") : verified ? green("verified") : red("refused");
  const parts = [dim(at), oneLine(event), dim(oneLine(id)), mark, String(status), `${bytes} B`];
  if (file !== undefined) parts.push(dim(file));
  io.stdout.write(`${parts.join("  ")}\n`);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

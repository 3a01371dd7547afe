import { resolve } from "node:path";
import { text, type Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { isLoopbackHost } from "@fetchwork/kit";
import { createWebMiddleware, type Vendor, Webhooks } from "@fetchwork/webhooks";
import type { CommandIo } from "../command/command-io.ts";
import { defineCommand, type Command } from "../command/command.ts";
import { colours, jsonLine, manyLines, oneLine } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { contentOf } from "./delivery-content.ts";
import { createForwarder, replayOnRequest } from "./forward.ts";
import { makeFolders } from "../files/make-folders.ts";
import { fieldsOf, saveDelivery, type SavedDelivery } from "./saved-delivery.ts";
import { createListenPage } from "./listen-page.ts";
import { withUsageFaults } from "./usage-faults.ts";
import type { SeenDelivery } from "./seen-delivery.ts";
import { secretOf, vendorOf, vendorOptions } from "./vendor-options.ts";
import { count, wholeNumber } from "../command/whole-number.ts";

/** `fetchwork webhooks listen`. */
export const listen: Command = defineCommand({
  summary: "Receive deliveries and print them",
  options: {
    port: {
      type: "string",
      short: "p",
      hint: "number",
      default: "8787",
      description: "Port; 0 picks a free one",
    },
    host: {
      type: "string",
      hint: "address",
      default: "127.0.0.1",
      description: "Address to listen on",
    },
    path: { type: "string", description: "Path of the receiver (default: the vendor's)" },
    url: {
      type: "string",
      short: "u",
      description: "Public URL of the receiver, for vendors that sign it: square, twilio",
    },
    ...vendorOptions,
    save: { type: "string", hint: "folder", description: "Save each delivery to a file" },
    forward: {
      type: "string",
      short: "f",
      hint: "URL",
      description: "Send each accepted delivery to this URL too, and return its response",
    },
    count: { type: "string", hint: "number", description: "Stop after this number of deliveries" },
    json: { type: "boolean", description: "Print one JSON object per line" },
  },
  run: ({ values }, io) =>
    withUsageFaults(async () => {
      const vendor = vendorOf(values);
      const { save, host } = values;
      const port = wholeNumber("port", values.port, 65_535);
      let left = count("count", values.count, 1e9, 0) ?? Infinity;
      const path = values.path ?? vendor.path;
      const secret = await secretOf(values, io);
      const receive = receiver(vendor, path, secret, values.url);
      const done = new AbortController();
      const { forward } = values;
      const asJson = values.json === true;
      const forwarder =
        forward === undefined ? undefined : createForwarder(forward, { io, asJson });
      const folder = save === undefined ? undefined : resolve(io.cwd, save);
      if (folder !== undefined) await makeFolders(folder, 0o700);

      const page = isLoopbackHost(host) ? createListenPage(forwarder) : undefined;

      const handler: Handler = async (request) => {
        const shown = await page?.respond(request);
        if (shown !== undefined) return shown;
        const body = await request.bytes();
        const delivery = toDelivery(request, body);
        const content = contentOf(vendor, delivery);
        const { response, verified } = await receive(request, { body, payload: content.payload });
        if (trimSlashes(new URL(request.url).pathname) !== trimSlashes(path)) return response;
        const { id, event, payload } = content;
        const saved =
          folder === undefined
            ? undefined
            : await saveDelivery(delivery, { folder, name: `${event}-${id}` });
        const forwarded = response.ok ? await forwarder?.forward(delivery) : undefined;
        const answer = forwarded?.response ?? response;
        const seen: SeenDelivery = {
          at: delivery.receivedAt,
          id,
          event,
          ...(verified !== undefined && { verified }),
          status: answer.status,
          ...(!response.ok && { reason: await reasonOf(response) }),
          ...forwarded?.seen,
          bytes: body.length,
          payload,
          ...(saved !== undefined && { file: saved }),
        };
        print(seen, { io, asJson });
        const headers = delivery.headers.filter(
          ([name]) =>
            vendor.scheme.carriesSecret !== true || name !== vendor.scheme.signatureHeader,
        );
        page?.add({ ...seen, headers, payload: wholePayload(payload).slice(0, maximumShown) });
        left -= 1;
        if (left <= 0) done.abort();
        return answer;
      };

      const server = await serve(handler, {
        port,
        hostname: host,
        signals: false,
        maxBodySize: 26_214_400,
      });
      const origin = server.url.replace(/\/$/, "");
      io.stderr.write(
        `Listening on ${origin}${path}${secret === undefined ? ", signatures are not verified (no secret)" : ""}\n`,
      );
      if (page !== undefined) io.stderr.write(`Deliveries at ${origin}/#${page.token}\n`);
      if (forwarder?.origin === origin) {
        await server.close();
        throw new CommandUsageError("--forward must not be where this command listens");
      }
      const end = AbortSignal.any([io.signal, done.signal]);
      if (forwarder !== undefined) {
        io.stderr.write(
          `Forwarding to ${forwarder.shownUrl}; r and Enter sends the last one again\n`,
        );
        void replayOnRequest(forwarder, { io, end });
      }
      await aborted(end);
      await server.close();
      return 0;
    }),
});

/** Outcome of a request. */
interface Received {
  readonly response: Response;
  /** Whether its signature is right; absent without a secret. */
  readonly verified?: boolean;
}

type Receive = (
  request: Request,
  content: { readonly body: Uint8Array<ArrayBuffer>; readonly payload: unknown },
) => Received | Promise<Received>;

/**
 * Responds as a receiver with that secret does; without one every POST to the path is taken.
 *
 * @param publicUrl - Its URL, which some vendors sign.
 */
function receiver(
  vendor: Vendor,
  path: string,
  secret: string | undefined,
  publicUrl: string | undefined,
): Receive {
  if (!path.startsWith("/")) throw new CommandUsageError("--path must begin with a slash");
  if (secret === undefined) {
    return ({ method, url }, { payload }) => {
      const isHere = method === "POST" && trimSlashes(new URL(url).pathname) === trimSlashes(path);
      if (!isHere) return { response: text("not found\n", { status: 404 }) };
      return { response: text(vendor.handshakeResponse?.(fieldsOf(payload)) ?? "ok\n") };
    };
  }
  const log = { warn: () => {}, error: () => {} };
  const webhooks = new Webhooks({ secret, vendor, log });
  const middleware = createWebMiddleware(webhooks, { path, url: publicUrl });
  return async (request, { body }) => {
    const { method, url, headers } = request;
    const init = method === "GET" || method === "HEAD" ? {} : { body };
    const verified = await webhooks.verify(body, headers, (publicUrl ?? "") + new URL(url).search);
    const response = await middleware(new Request(url, { method, headers, ...init }));
    return { response, verified };
  };
}

/** Reads from the response why a request was refused. */
async function reasonOf(response: Response): Promise<string> {
  const text = await response.clone().text();
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    return typeof error === "string" ? error : text;
  } catch {
    return text.trim();
  }
}

/** A path without slashes at its end, as receivers compare paths. */
function trimSlashes(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
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

function print(
  seen: SeenDelivery,
  { io, asJson }: { readonly io: CommandIo; readonly asJson: boolean },
): void {
  if (asJson) {
    io.stdout.write(jsonLine(seen));
    return;
  }
  const { green, red, dim } = colours(io.stdout);
  const { at, id, event, verified, status, reason, bytes, payload, file, number } = seen;
  const isRefused = status >= 400;
  const signature =
    verified === undefined
      ? dim("unverified")
      : verified
        ? green("verified")
        : red("wrong signature");
  const parts = [dim(at), oneLine(event), dim(oneLine(id)), signature];
  const result = number === undefined && isRefused ? `refused ${status}` : String(status);
  parts.push(isRefused ? red(result) : result, `${bytes} B`);
  if (number !== undefined) parts.push(dim(`forwarded as ${number} in ${seen.milliseconds} ms`));
  if (file !== undefined) parts.push(dim(file));
  const lines = [parts.join("  ")];
  if (reason !== undefined) lines.push(red(oneLine(reason)));
  if (payload !== undefined) lines.push(shownPayload(payload));
  io.stdout.write(`${lines.join("\n  ")}\n`);
}

/** Characters of a payload that are shown; `--save` and `--json` have all of it. */
const maximumShown = 20_000;

function shownPayload(payload: unknown): string {
  const whole = wholePayload(payload);
  const cut = whole.length - maximumShown;
  const shown = manyLines(whole.slice(0, maximumShown)).replaceAll("\n", "\n  ");
  return cut > 0 ? `${shown}\n  ... ${cut} more characters` : shown;
}

function wholePayload(payload: unknown): string {
  if (payload === undefined) return "";
  return typeof payload === "string" ? payload : JSON.stringify(payload, undefined, 2);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

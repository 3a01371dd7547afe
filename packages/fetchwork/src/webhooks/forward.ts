import { Readable } from "node:stream";
import { TransportError } from "@fetchwork/http";
import { maskUrl } from "@fetchwork/kit";
import type { CommandIo } from "../command/command-io.ts";
import { colours, jsonLine, oneLine } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { post } from "./deliver.ts";
import { headersToSend, type SavedDelivery } from "./saved-delivery.ts";

/** Outcome of a delivery that was forwarded. */
interface Forwarded {
  /** Response of the URL, for the sender of the delivery; 502 without one. */
  readonly response: Response;
  /** The delivery as it is printed. */
  readonly seen: {
    readonly number: number;
    readonly milliseconds: number;
    /** Why there is no response. */
    readonly reason?: string;
  };
}

/** Outcome of a delivery that was sent again. */
type Replayed = Forwarded["seen"] & { readonly status: number };

/** Sends deliveries on to a URL, and keeps the last ones. */
export interface Forwarder {
  readonly origin: string;
  /** The URL without what may be secret. */
  readonly shownUrl: string;
  /** Sends the body as it came, with the headers that it came with. */
  forward(delivery: SavedDelivery): Promise<Forwarded>;
  /** Sends one again (default: the last) and prints the response; nothing if it is not kept. */
  replay(number?: number): Promise<Replayed | undefined>;
}

/** Deliveries that are kept; each has at most 25 MiB. */
const kept = 20;

/**
 * Makes the forwarder of `listen`.
 *
 * @throws CommandUsageError
 */
export function createForwarder(
  target: string,
  { io, asJson }: { readonly io: CommandIo; readonly asJson: boolean },
): Forwarder {
  const url = urlOf(target);
  const deliveries = new Map<number, SavedDelivery>();
  let last = 0;

  async function sendOn(number: number, delivery: SavedDelivery): Promise<Forwarded> {
    const started = performance.now();
    const time = (): number => Math.round(performance.now() - started);
    const headers = headersToSend(delivery);
    const { body } = delivery;
    try {
      const received = await post({ url: urlFor(url, delivery), headers, body, signal: io.signal });
      const { status, text, contentType } = received;
      const hasBody = ![204, 205, 304].includes(status);
      const response = new Response(hasBody ? text : null, {
        status,
        ...(contentType !== undefined && { headers: { "content-type": contentType } }),
      });
      return { response, seen: { number, milliseconds: time() } };
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      const response = new Response("the delivery could not be forwarded\n", { status: 502 });
      return { response, seen: { number, milliseconds: time(), reason: error.message } };
    }
  }

  return {
    origin: url.origin,
    shownUrl: maskUrl(url.href),
    forward(delivery) {
      last += 1;
      deliveries.set(last, delivery);
      deliveries.delete(last - kept);
      return sendOn(last, delivery);
    },
    async replay(number = last) {
      const delivery = deliveries.get(number);
      if (delivery === undefined) {
        io.stderr.write(`There is no delivery ${number}; the last ${kept} are kept\n`);
        return undefined;
      }
      const { response, seen } = await sendOn(number, delivery);
      const { status } = response;
      if (asJson) {
        io.stdout.write(jsonLine({ replayed: number, status, ...seen }));
        return { status, ...seen };
      }
      const { green, red } = colours(io.stdout);
      const reason = seen.reason === undefined ? "" : `  ${oneLine(seen.reason)}`;
      const shown = (response.ok ? green : red)(String(status));
      io.stdout.write(`replayed ${number}  ${shown}  in ${seen.milliseconds} ms${reason}\n`);
      return { status, ...seen };
    },
  };
}

/** Replays for each line `r` or `r <number>` that is typed, until the end. */
export async function replayOnRequest(
  forwarder: Forwarder,
  { io, end }: { readonly io: CommandIo; readonly end: AbortSignal },
): Promise<void> {
  const { stdin } = io;
  // An input that is still read would keep the process.
  if (stdin instanceof Readable) end.addEventListener("abort", () => stdin.destroy());
  let line = "";
  try {
    const chunks: AsyncIterable<Uint8Array> = stdin;
    for await (const chunk of chunks) {
      // A longer line is not a request.
      const lines = (line + new TextDecoder().decode(chunk)).slice(-1_000).split("\n");
      line = lines.pop() ?? "";
      for (const each of lines) {
        const [isRequest, number] = /^r(?:eplay)?(?: +(\d{1,9}))?$/.exec(each.trim()) ?? [];
        if (isRequest !== undefined) {
          await forwarder.replay(number === undefined ? undefined : Number(number));
        }
      }
    }
  } catch (error) {
    // The command ends, and with it its input.
    if (!end.aborted) io.stderr.write(`${oneLine(String(error))}\n`);
  }
}

function urlOf(target: string): URL {
  const url = URL.parse(target);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password !== "") {
    throw new CommandUsageError("--forward must be a URL of http or https without credentials");
  }
  url.hash = "";
  return url;
}

/** The URL of the command line, with the query of the delivery unless it has one. */
function urlFor(target: URL, { path }: SavedDelivery): string {
  const query = path.indexOf("?");
  if (target.search !== "" || query === -1) return target.href;
  return target.href + path.slice(query);
}

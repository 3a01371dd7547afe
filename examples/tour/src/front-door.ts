import { empty, type Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";

/**
 * A server that listens before its handler is there, for those who have to know its origin first.
 */
export interface FrontDoor {
  readonly origin: string;
  /** Sets the handler; until then everybody gets 503. */
  open(handler: Handler): void;
  close(): Promise<void>;
}

/** Listens on a free port of this machine. */
export async function listen(): Promise<FrontDoor> {
  let current: Handler = closed;
  const server = await serve((request, context) => current(request, context), {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
  });
  return {
    origin: new URL(server.url).origin,
    open(handler) {
      current = handler;
    },
    close: () => server.close({ gracePeriod: 0 }),
  };
}

function closed(): Response {
  return empty(503);
}

// Runs on workerd: the smoke test is a request to the worker, and so is what it sends to itself
// over the socket.
import { smoke } from "fetchwork-smoke-test";
import type { FetchHandler } from "./platform.ts";

let current: FetchHandler | undefined;

export default {
  async fetch(request: Request, ...runtime: readonly unknown[]): Promise<Response> {
    const { origin, pathname, searchParams } = new URL(request.url);
    if (pathname !== "/fetchwork-smoke-test") {
      return current?.(request, ...runtime) ?? new Response("nobody listens", { status: 503 });
    }
    try {
      await smoke({
        name: "workerd",
        peer: searchParams.get("peer") ?? "",
        command: [],
        listen(handler) {
          current = handler;
          const close = (): void => {
            current = undefined;
          };
          return { origin, close };
        },
      });
      return new Response("passed");
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? String(error)) : String(error);
      return new Response(text, { status: 500 });
    }
  },
};

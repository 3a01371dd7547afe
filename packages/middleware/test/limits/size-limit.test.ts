import { text, wrap, type Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { describe, expect, it, vi } from "vitest";
import { sizeLimit, type SizeLimitOptions } from "../../src/limits/size-limit.ts";

const echo: Handler = async (request) => text(await request.text());

/** A request of which a client would send the chunks one by one. */
function chunked(chunks: readonly string[], { fails = false, headers = {} } = {}): Request {
  let index = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = chunks[index];
      index += 1;
      if (chunk !== undefined) controller.enqueue(new TextEncoder().encode(chunk));
      else if (fails) controller.error(new Error("connection reset"));
      else controller.close();
    },
  });
  const init = { method: "POST", body, duplex: "half", headers };
  return new Request("http://h/", init);
}

const declared = (body: string): Request =>
  new Request("http://h/", {
    method: "POST",
    body,
    headers: { "content-length": String(body.length) },
  });

describe.each<SizeLimitOptions>([{ mode: "buffer" }, { mode: "stream" }])(
  "sizeLimit(10, %j)",
  (options) => {
    it.each<[string, Request, number, string]>([
      // Research A6.
      ["11 bytes, declared", declared("12345678901"), 413, ""],
      ["11 bytes, in chunks", chunked(["123456", "78901"]), 413, ""],
      ["10 bytes, declared", declared("1234567890"), 200, "1234567890"],
      ["10 bytes, in chunks", chunked(["123456", "7890"]), 200, "1234567890"],
      ["7 bytes, declared", declared("1234567"), 200, "1234567"],
      ["7 bytes, in chunks", chunked(["1234567"]), 200, "1234567"],
      ["nothing, declared", declared(""), 200, ""],
      ["nothing, in chunks", chunked([]), 200, ""],
      // A declared length never counts next to Transfer-Encoding, and never replaces counting.
      [
        "a lie next to Transfer-Encoding that is too small",
        chunked(["12345678901"], {
          headers: { "content-length": "1", "transfer-encoding": "chunked" },
        }),
        413,
        "",
      ],
      [
        "a lie next to Transfer-Encoding that is too large",
        chunked(["123"], { headers: { "content-length": "99", "transfer-encoding": "chunked" } }),
        200,
        "123",
      ],
      ["a lie", chunked(["12345678901"], { headers: { "content-length": "1" } }), 413, ""],
      ["a length that is none", chunked(["1"], { headers: { "content-length": "+99" } }), 200, "1"],
    ])("responds to a body of %s", async (_, request, status, body) => {
      const response = await wrap(echo, sizeLimit(10, options))(request);
      expect([response.status, await response.text()]).toEqual([status, body]);
    });

    it("refuses a declared length over the limit without reading", async () => {
      const request = declared("x".repeat(11));
      const handler = vi.fn(echo);
      await wrap(handler, sizeLimit(10, options))(request);
      expect(request.bodyUsed).toBe(false);
      expect(handler).not.toHaveBeenCalled();
    });

    it("keeps headers, and passes requests without a body on unchanged", async () => {
      const handler: Handler = ({ headers }) => text(String(headers.get("content-length")));
      const ask = async (request: Request): Promise<string> =>
        (await wrap(handler, sizeLimit(10, options))(request)).text();
      expect(await ask(declared("123"))).toBe("3");
      expect(await ask(new Request("http://h/"))).toBe("null");
      expect(await ask(new Request("http://h/", { method: "DELETE" }))).toBe("null");
    });

    it("counts over a socket, for both framings", async () => {
      const options_ = { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 };
      await using server = await serve(wrap(echo, sizeLimit(10, options)), options_);
      const post = async (body: BodyInit): Promise<string> => {
        const init: RequestInit & { duplex: "half" } = { method: "POST", body, duplex: "half" };
        const response = await fetch(server.url, init);
        return `${response.status} ${await response.text()}`;
      };
      expect(await post("1234567890")).toBe("200 1234567890");
      expect(await post("12345678901")).toBe("413 ");
      expect(await post(new Blob(["12345", "67890"]).stream())).toBe("200 1234567890");
      expect(await post(new Blob(["123456", "78901"]).stream())).toBe("413 ");
    });
  },
);

describe("sizeLimit", () => {
  it.each([-1, 1.5, Number.NaN])("refuses a limit of %s", (bytes) => {
    expect(() => sizeLimit(bytes)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it("responds with 503 when a body cannot be read, and does not run the handler", async () => {
    const handler = vi.fn(echo);
    const response = await wrap(handler, sizeLimit(10))(chunked(["123"], { fails: true }));
    expect([response.status, await response.text()]).toEqual([503, ""]);
    expect(handler).not.toHaveBeenCalled();
  });

  it("refuses a body that is used already", async () => {
    const request = declared("1");
    await request.text();
    await expect(wrap(echo, sizeLimit(10))(request)).rejects.toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_BODY_USED" }),
    );
  });

  describe("in stream mode", () => {
    const stream = sizeLimit(10, { mode: "stream" });

    it("runs the handler before the body has come, and cancels what is too large", async () => {
      const reads: string[] = [];
      const handler: Handler = async (request) => {
        const decoder = new TextDecoder();
        for await (const chunk of request.body ?? []) reads.push(decoder.decode(chunk));
        return text("done");
      };
      const response = await wrap(handler, stream)(chunked(["12345", "67890", "1", "never"]));
      expect(response.status).toBe(413);
      expect(reads).toEqual(["12345", "67890"]);
    });

    it("lets the handler respond when it catches the error, which has the reason", async () => {
      const handler: Handler = async (request) => {
        const message = await request.text().catch((error: unknown) => (error as Error).message);
        return text(message);
      };
      const response = await wrap(handler, stream)(chunked(["12345678901"]));
      expect(await response.text()).toBe("the body is larger than 10 bytes");
    });

    it("passes other failures on", async () => {
      const handler: Handler = async (request) => {
        await request.text();
        throw new Error("mine");
      };
      await expect(wrap(handler, stream)(chunked(["1"]))).rejects.toThrow("mine");
      await expect(wrap(echo, stream)(chunked(["1"], { fails: true }))).rejects.toThrow("reset");
    });

    it("cancels the client's body when the handler cancels it, read or not", async () => {
      for (const isRead of [false, true]) {
        const cancel = vi.fn();
        const body = new ReadableStream<Uint8Array>({
          pull: (controller) => controller.enqueue(new Uint8Array(1)),
          cancel,
        });
        const init = { method: "POST", body, duplex: "half" };
        const handler: Handler = async (request) => {
          const reader = request.body?.getReader();
          if (isRead) await reader?.read();
          await reader?.cancel("enough");
          return text("x");
        };
        await wrap(handler, stream)(new Request("http://h/", init));
        expect(cancel).toHaveBeenCalledExactlyOnceWith("enough");
      }
    });

    it("does not touch an unread body", async () => {
      const request = chunked(["1"]);
      expect(await (await wrap(() => text("x"), stream)(request)).text()).toBe("x");
      expect(request.bodyUsed).toBe(false);
    });
  });
});

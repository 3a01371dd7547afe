import { describe, expect, it } from "vitest";
import {
  createContext,
  createContextKey,
  finishContext,
  type FinishReport,
} from "../../src/index.ts";

const request = new Request("http://localhost/");

describe("createContext()", () => {
  it("starts with the peer as the client's address, which can be replaced", () => {
    const context = createContext(request, { peer: "192.0.2.1" });
    expect(context.ip).toBe("192.0.2.1");
    context.ip = "198.51.100.7";
    expect([context.peer, context.ip]).toEqual(["192.0.2.1", "198.51.100.7"]);
    context.ip = undefined;
    expect(context.ip).toBeUndefined();
  });

  it("does not read the signal in advance", () => {
    let reads = 0;
    const context = createContext(request, {
      get signal() {
        reads += 1;
        return AbortSignal.abort();
      },
    });
    expect(reads).toBe(0);
    expect(context.signal.aborted).toBe(true);
  });

  it("has the request's signal by default", () => {
    expect(createContext(request).signal).toBe(request.signal);
  });

  it("keeps the values of two keys with one name apart", () => {
    const first = createContextKey<string>("name");
    const second = createContextKey<number>("name");
    const context = createContext(request);
    context.set(first, "a");
    expect([context.get(first), context.get(second)]).toEqual(["a", undefined]);
  });

  it("starts with no parameters, no identifier and a start time", () => {
    const before = performance.now();
    const context = createContext(request);
    expect(context.params).toEqual({});
    expect(context.requestId).toBeUndefined();
    expect(context.startedAt).toBeGreaterThanOrEqual(before);
  });

  it("reports the rejection of a waitUntil promise", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const context = createContext(request, { reportError: resolve });
    context.waitUntil(Promise.reject(new Error("late")));
    expect(await promise).toEqual(new Error("late"));
  });
});

describe("finishContext()", () => {
  it("rejects a context that createContext() did not make", () => {
    const foreign = Object.create(createContext(request)) as ReturnType<typeof createContext>;
    const plain = { ...foreign } as typeof foreign;
    expect(() => finishContext(plain, { status: 200, bytes: 0 })).toThrow(
      expect.objectContaining({ code: "ERR_HTTP_CONTEXT" }),
    );
  });

  it("calls listeners once, in the order in which they were added", () => {
    const calls: string[] = [];
    const context = createContext(request);
    context.onFinish(() => calls.push("first"));
    context.onFinish(() => calls.push("second"));
    finishContext(context, { status: 200, bytes: 3 });
    finishContext(context, { status: 500, bytes: 0 });
    expect(calls).toEqual(["first", "second"]);
  });

  it("reports what a listener throws and calls the others", () => {
    const reported: unknown[] = [];
    const reports: FinishReport[] = [];
    const context = createContext(request, { reportError: (error) => reported.push(error) });
    context.onFinish(() => {
      throw new Error("listener");
    });
    context.onFinish((report) => reports.push(report));
    finishContext(context, { status: 204, bytes: 0, aborted: true });
    expect(reported).toEqual([new Error("listener")]);
    expect(reports).toMatchObject([{ status: 204, bytes: 0, aborted: true }]);
  });

  it("reports what a listener rejects with", async () => {
    const reported: unknown[] = [];
    const context = createContext(request, { reportError: (error) => reported.push(error) });
    context.onFinish((): unknown => Promise.reject(new Error("listener")));
    finishContext(context, { status: 204, bytes: 0 });
    await expect.poll(() => reported).toEqual([new Error("listener")]);
  });

  it("calls a listener at once that is added after the end", () => {
    const context = createContext(request);
    finishContext(context, { status: 200, bytes: 5 });
    let report: FinishReport | undefined;
    context.onFinish((late) => {
      report = late;
    });
    expect(report).toMatchObject({ status: 200, bytes: 5, aborted: false });
    expect(report?.duration).toBeGreaterThanOrEqual(0);
  });
});

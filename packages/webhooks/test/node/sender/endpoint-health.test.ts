import { describe, expect, it } from "vitest";
import { EndpointHealth } from "../../../src/node/sender/endpoint-health.ts";

/** Begins all attempts that the endpoint may have, and returns their number. */
function fill(health: EndpointHealth, endpointId: string): number {
  let count = 0;
  for (; health.room(endpointId) > 0; count += 1) health.begin(endpointId);
  return count;
}

describe("EndpointHealth", () => {
  it("room() is one place for an endpoint that has not responded, and its share afterwards", () => {
    const health = new EndpointHealth(32, 8);
    expect(fill(health, "a")).toBe(1);
    health.note("a", "response");
    expect(fill(health, "a")).toBe(7);
    expect(health.running("a")).toBe(8);
  });

  it("room() is one place for an endpoint after one timeout, until it responds again", () => {
    const health = new EndpointHealth(32, 8);
    health.note("a", "response");
    fill(health, "a");
    health.note("a", "timeout");
    for (let count = 0; count < 7; count += 1) health.end("a");
    expect(health.room("a")).toBe(0);
    health.end("a");
    expect(fill(health, "a")).toBe(1);
    health.note("a", "response");
    expect(fill(health, "a")).toBe(7);
  });

  it.each(["suspect", "new"])("room() is limited for all %s endpoints together", (kind) => {
    const health = new EndpointHealth(32, 8);
    let places = 0;
    for (let index = 0; index < 100; index += 1) {
      if (kind === "suspect") health.note(`${index}`, "timeout");
      places += fill(health, `${index}`);
    }
    expect(places).toBe(kind === "suspect" ? 8 : 16);
    health.note("healthy", "response");
    expect(fill(health, "healthy")).toBe(8);
    health.end("0");
    expect(fill(health, "99")).toBe(1);
  });

  it("room() is at least one place when concurrency is 1", () => {
    const health = new EndpointHealth(1, 1);
    expect(health.room("a")).toBe(1);
    health.note("a", "timeout");
    expect(health.room("a")).toBe(1);
  });

  it("note() forgets idle endpoints when there are more than 10,000", () => {
    const health = new EndpointHealth(32, 8);
    health.note("busy", "response");
    health.begin("busy");
    health.note("idle", "response");
    for (let index = 0; index < 10_000; index += 1) health.note(`${index}`, "response");
    expect([health.room("busy"), health.room("idle"), health.room("9999")]).toEqual([7, 1, 8]);
  });
});

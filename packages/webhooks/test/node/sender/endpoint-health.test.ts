import { describe, expect, it } from "vitest";
import { EndpointHealth } from "../../../src/node/sender/deliveries/endpoint-health.ts";

/** Begins all attempts that the endpoint may have, and returns their number. */
function fill(health: EndpointHealth, endpointId: string): number {
  let count = 0;
  for (; health.room(endpointId) > 0; count += 1) {
    health.begin(`${endpointId}/${health.running(endpointId)}`, endpointId);
  }
  return count;
}

const later = (): number => performance.now() + 251;

describe("EndpointHealth", () => {
  it("room() is one attempt for an endpoint that has not responded, and its share afterwards", () => {
    const health = new EndpointHealth(32, 8);
    expect(fill(health, "a")).toBe(1);
    health.note("a", "response");
    expect(fill(health, "a")).toBe(7);
    expect(health.running("a")).toBe(8);
  });

  it("room() is one attempt for an endpoint after one timeout, until it responds again", () => {
    const health = new EndpointHealth(32, 8);
    health.note("a", "response");
    fill(health, "a");
    health.note("a", "timeout");
    for (let count = 0; count < 7; count += 1) health.end(`a/${count}`);
    expect(health.room("a")).toBe(0);
    health.end("a/7");
    expect(fill(health, "a")).toBe(1);
    health.note("a", "response");
    expect(fill(health, "a")).toBe(7);
  });

  it.each(["suspect", "new"])("room() is limited for all %s endpoints together", (kind) => {
    const health = new EndpointHealth(32, 8);
    let attempts = 0;
    for (let index = 0; index < 100; index += 1) {
      if (kind === "suspect") health.note(`${index}`, "timeout");
      attempts += fill(health, `${index}`);
    }
    expect(attempts).toBe(kind === "suspect" ? 8 : 24);
    health.note("healthy", "response");
    expect(fill(health, "healthy")).toBe(8);
    health.end("0/0");
    expect(fill(health, "99")).toBe(1);
  });

  it("age() frees the places of slow attempts for others, so that 100 hanging endpoints take none", () => {
    const health = new EndpointHealth(32, 8);
    for (let index = 0; index < 100; index += 1) {
      fill(health, `${index}`);
      if (health.places() <= 8) health.age(later());
    }
    health.age(later());
    expect(health.places()).toBe(28);
    expect(health.room("0")).toBeLessThanOrEqual(0);
    expect([fill(health, "new"), health.room("another")]).toEqual([1, 1]);
    health.end("0/0");
    // The suspects that wait have more than their part.
    expect(health.room("0")).toBeLessThanOrEqual(0);
  });

  it("age() returns when the next attempt is slow", () => {
    const health = new EndpointHealth(32, 8);
    expect(health.age()).toBeUndefined();
    health.begin("1", "a");
    const begun = performance.now();
    expect(health.age(begun + 100)).toBeGreaterThan(140);
    expect(health.age(begun + 100)).toBeLessThanOrEqual(150);
    expect(health.age(begun + 251)).toBeUndefined();
  });

  it("a responsive endpoint keeps its share while attempts to it are slow, until very many are", () => {
    const health = new EndpointHealth(4, 8);
    health.note("a", "response");
    health.note("b", "response");
    expect(fill(health, "a")).toBe(4);
    health.age(later());
    expect(health.room("a")).toBe(0);
    expect(fill(health, "b")).toBe(4);
    expect(health.places()).toBe(0);
    for (let count = 0; count < 4; count += 1) health.end(`a/${count}`);
    health.end("unknown");
    expect(health.room("a")).toBe(0);
    health.age(later());
    expect(health.room("a")).toBe(4);
  });

  it("room() is at least one attempt when concurrency is 1", () => {
    const health = new EndpointHealth(1, 1);
    expect(health.room("a")).toBe(1);
    health.note("a", "timeout");
    expect(health.room("a")).toBe(1);
  });

  it("note() forgets idle endpoints when there are more than 10,000", () => {
    const health = new EndpointHealth(32, 8);
    health.note("busy", "response");
    health.begin("1", "busy");
    health.note("idle", "response");
    for (let index = 0; index < 10_000; index += 1) health.note(`${index}`, "response");
    expect([health.room("busy"), health.room("idle"), health.room("9999")]).toEqual([7, 1, 8]);
  });
});

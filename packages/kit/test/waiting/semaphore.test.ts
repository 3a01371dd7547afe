import { describe, expect, it } from "vitest";
import { QueueFullError, Semaphore } from "../../src/waiting/semaphore.ts";

describe("Semaphore", () => {
  it("lets as many callers pass as it has permits, and the others in their order", async () => {
    const semaphore = new Semaphore(2);
    const passed: number[] = [];
    const callers = [1, 2, 3, 4].map(async (caller) => {
      await semaphore.acquire();
      passed.push(caller);
    });
    await Promise.all(callers.slice(0, 2));
    expect(passed).toEqual([1, 2]);
    expect([semaphore.held, semaphore.waiting]).toEqual([2, 2]);
    semaphore.release();
    await callers[2];
    expect(passed).toEqual([1, 2, 3]);
    semaphore.release();
    await callers[3];
    semaphore.release();
    semaphore.release();
    expect([semaphore.held, semaphore.waiting]).toEqual([0, 0]);
  });

  it("rejects a caller when the queue is full, and accepts one when there is room again", async () => {
    const semaphore = new Semaphore(1, { maxWaiting: 1 });
    await semaphore.acquire();
    const second = semaphore.acquire();
    await expect(semaphore.acquire()).rejects.toBeInstanceOf(QueueFullError);
    semaphore.release();
    await second;
  });

  it("rejects with the reason of a signal that has aborted, and takes no permit", async () => {
    const semaphore = new Semaphore(1);
    await expect(semaphore.acquire(AbortSignal.abort("gone"))).rejects.toBe("gone");
    expect(semaphore.tryAcquire()).toBe(true);
  });

  it("removes a caller from the queue when its signal aborts", async () => {
    const semaphore = new Semaphore(1, { maxWaiting: 2 });
    await semaphore.acquire();
    const controller = new AbortController();
    const second = semaphore.acquire(controller.signal);
    const third = semaphore.acquire();
    controller.abort("gone");
    await expect(second).rejects.toBe("gone");
    expect(semaphore.waiting).toBe(1);
    semaphore.release();
    await third;
    expect(semaphore.held).toBe(1);
  });

  it("keeps the permit of a caller whose signal aborts after it passed", async () => {
    const semaphore = new Semaphore(1);
    const controller = new AbortController();
    await semaphore.acquire();
    const second = semaphore.acquire(controller.signal);
    semaphore.release();
    controller.abort("late");
    await second;
    expect(semaphore.tryAcquire()).toBe(false);
  });

  it("keeps the order of a long queue", async () => {
    const semaphore = new Semaphore(1);
    await semaphore.acquire();
    const passed: number[] = [];
    const callers = Array.from({ length: 5000 }, async (_, caller) => {
      await semaphore.acquire();
      passed.push(caller);
      semaphore.release();
    });
    semaphore.release();
    await Promise.all(callers);
    expect(passed).toEqual(Array.from({ length: 5000 }, (_, caller) => caller));
  });
});

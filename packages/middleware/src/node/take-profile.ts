import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { withInspector } from "./inspector-session.ts";

/** How long a profile is taken, and what ends it early. */
export interface ProfileDuration {
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** Takes a profile and returns it as JSON. */
export type ProfileTaker = (duration: ProfileDuration) => Promise<unknown>;

/** Samples every millisecond where the processor's time goes. The format is `.cpuprofile`. */
export async function takeCPUProfile({ seconds, signal }: ProfileDuration): Promise<unknown> {
  return withInspector(async ({ post }) => {
    await post("Profiler.enable");
    await post("Profiler.setSamplingInterval", { interval: 1000 });
    await post("Profiler.start");
    await wait(seconds * 1000, undefined, { signal });
    return profileOf(await post("Profiler.stop"));
  });
}

/** Samples allocations that are still alive. The format is that of `.heapprofile` files. */
export async function takeHeapProfile(duration: ProfileDuration): Promise<unknown> {
  return sampleHeap(duration, {});
}

/** Samples all allocations, also collected ones. The format is `.heapprofile`. */
export async function takeAllocationProfile(duration: ProfileDuration): Promise<unknown> {
  return sampleHeap(duration, {
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
}

/** Records events of Node and V8. The format is that of Chrome's `about:tracing`. */
export async function takeTrace({ seconds, signal }: ProfileDuration): Promise<unknown> {
  return withInspector(async ({ post, next, each }) => {
    const traceEvents: unknown[] = [];
    each("NodeTracing.dataCollected", (parameters) => {
      traceEvents.push(...eventsOf(parameters));
    });
    const complete = next("NodeTracing.tracingComplete");
    const includedCategories = ["node", "node.async_hooks", "node.perf", "v8"];
    await post("NodeTracing.start", { traceConfig: { includedCategories } });
    try {
      await wait(seconds * 1000, undefined, { signal });
    } finally {
      await post("NodeTracing.stop");
    }
    await complete;
    return { traceEvents };
  });
}

/** Measures how late the event loop is, in milliseconds. */
export async function takeEventLoopDelay({ seconds, signal }: ProfileDuration): Promise<unknown> {
  const histogram = monitorEventLoopDelay({ resolution: 10 });
  histogram.enable();
  try {
    await wait(seconds * 1000, undefined, { signal });
  } finally {
    histogram.disable();
  }
  const percentiles = [50, 75, 90, 99, 99.9].map((percentile) => [
    `p${percentile}`,
    milliseconds(histogram.percentile(percentile)),
  ]);
  return {
    count: histogram.count,
    min: histogram.count === 0 ? 0 : milliseconds(histogram.min),
    mean: histogram.count === 0 ? 0 : milliseconds(histogram.mean),
    max: milliseconds(histogram.max),
    ...Object.fromEntries(percentiles),
  };
}

function milliseconds(nanoseconds: number): number {
  return Math.round(nanoseconds / 1000) / 1000;
}

async function sampleHeap({ seconds, signal }: ProfileDuration, options: object): Promise<unknown> {
  return withInspector(async ({ post }) => {
    await post("HeapProfiler.startSampling", { samplingInterval: 32_768, ...options });
    try {
      await wait(seconds * 1000, undefined, { signal });
    } catch (error) {
      await post("HeapProfiler.stopSampling");
      throw error;
    }
    return profileOf(await post("HeapProfiler.stopSampling"));
  });
}

function profileOf(result: unknown): unknown {
  return typeof result === "object" && result !== null && "profile" in result
    ? result.profile
    : undefined;
}

function eventsOf(parameters: unknown): readonly unknown[] {
  const value: unknown =
    typeof parameters === "object" && parameters !== null && "value" in parameters
      ? parameters.value
      : undefined;
  return Array.isArray(value) ? value : [];
}

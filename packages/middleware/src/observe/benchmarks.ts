import type { Handler, Middleware } from "@fetchwork/http";
import { checkFunction, checkOptions, optionError } from "../check-options.ts";

/** Options of {@link Benchmarks}. */
export interface BenchmarksOptions {
  /** How far back data is kept, in ms, one point per second. Default: `900_000`. */
  readonly timeRange?: number | undefined;
  /** Clock, in milliseconds since 1970. Default: the system's, never going back. */
  readonly now?: (() => number) | undefined;
}

/** Figures of a window of time. Their names are those in JSON. */
export interface BenchmarkStats {
  /** Number of requests that ended. */
  readonly requests: number;
  /** Requests per second, over the time from the first to the last second with requests. */
  readonly requests_sec: number;
  /** Mean time of a request, in whole microseconds. */
  readonly average_resp_time: number;
  /** Shortest time of a request, in whole microseconds. */
  readonly min_resp_time: number;
  /** Longest time of a request, in whole microseconds. */
  readonly max_resp_time: number;
}

/** One second. */
interface Point {
  readonly second: number;
  requests: number;
  total: number;
  min: number;
  max: number;
}

const nothing: BenchmarkStats = Object.freeze({
  requests: 0,
  requests_sec: 0,
  average_resp_time: 0,
  min_resp_time: 0,
  max_resp_time: 0,
});

/**
 * Counts requests and their times in memory, one point per second, 900 points by default.
 *
 * @example
 * ```ts
 * const benchmarks = new Benchmarks();
 * const handler = wrap(app, benchmarks.middleware);
 * const lastMinute = benchmarks.stats(60_000);
 * ```
 */
export class Benchmarks {
  readonly #range: number;
  readonly #now: () => number;
  /** Oldest first. */
  readonly #points: Point[] = [];

  /** @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` */
  constructor(options: BenchmarksOptions = {}) {
    checkOptions("benchmarks", options, ["timeRange", "now"]);
    const { timeRange = 900_000, now = steadyNow } = options;
    if (typeof timeRange !== "number" || !(timeRange >= 1000) || timeRange > 86_400_000) {
      throw optionError("timeRange", timeRange, "milliseconds, one second to a day");
    }
    checkFunction(now, "now");
    this.#range = Math.floor(timeRange / 1000);
    this.#now = now;
  }

  /** Counts a handler's requests until the end of responses, also of failed ones. */
  readonly middleware: Middleware = (next) => this.handler(next);

  /** {@link Benchmarks.middleware} under the name of the specification's source. */
  handler(next: Handler): Handler {
    return (request, context) => {
      const startedAt = this.#now();
      context.onFinish(() => this.update(this.#now() - startedAt));
      return next(request, context);
    };
  }

  /** Counts one request that has just ended and took `duration` milliseconds. */
  update(duration: number): void {
    const second = Math.floor(this.#now() / 1000);
    const last = this.#points.at(-1);
    if (last?.second === second) {
      last.requests += 1;
      last.total += duration;
      last.min = Math.min(last.min, duration);
      last.max = Math.max(last.max, duration);
      return;
    }
    const kept = this.#points.findIndex((point) => point.second > second - this.#range);
    this.#points.splice(0, kept === -1 ? this.#points.length : kept);
    this.#points.push({ second, requests: 1, total: duration, min: duration, max: duration });
  }

  /**
   * Sums up the last `window` milliseconds, one second to the time range; all zero for less than a
   * second.
   *
   * @example
   * ```ts
   * const handler = () => renderJSON(benchmarks.stats(5 * 60_000));
   * ```
   */
  stats(window: number): BenchmarkStats {
    if (!(window >= 1000)) return nothing;
    const seconds = Math.min(Math.floor(window / 1000), this.#range);
    const oldest = Math.floor(this.#now() / 1000) - seconds;
    // A point for each second of the window, and none that is older.
    const points = this.#points.slice(-seconds).filter(({ second }) => second >= oldest);
    const [first] = points;
    const last = points.at(-1);
    if (first === undefined || last === undefined) return nothing;
    const sum = (pick: (point: Point) => number): number =>
      points.reduce((total, point) => total + pick(point), 0);
    const requests = sum((point) => point.requests);
    const min = points.reduce((min, point) => Math.min(min, point.min), Infinity);
    const max = points.reduce((max, point) => Math.max(max, point.max), 0);
    return {
      requests,
      requests_sec: requests / (last.second + 1 - first.second),
      average_resp_time: microseconds(sum((point) => point.total) / requests),
      min_resp_time: microseconds(min),
      max_resp_time: microseconds(max),
    };
  }
}

/** A middleware that counts, and what it counted. */
type BenchmarksMiddleware = Middleware & Pick<Benchmarks, "stats">;

/**
 * Makes a middleware that counts, with its `stats`; a shorter way to {@link Benchmarks}.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function benchmarks(options: BenchmarksOptions = {}): BenchmarksMiddleware {
  const counted = new Benchmarks(options);
  const middleware: Middleware = (next) => counted.handler(next);
  return Object.assign(middleware, { stats: (window: number) => counted.stats(window) });
}

function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}

function microseconds(milliseconds: number): number {
  // Adding half a nanosecond keeps 0.1 + 0.2 and the like from losing a microsecond.
  return Math.floor(milliseconds * 1000 + 5e-4);
}

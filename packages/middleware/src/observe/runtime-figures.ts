import { builtinModule } from "../runtime/platform.ts";
import { checkFlag } from "../check-options.ts";

/** Figures of a runtime; parts are absent where it reports nothing. */
export interface RuntimeFigures {
  /** The command line, in which values may be hidden. */
  readonly cmdline?: readonly string[] | undefined;
  readonly process?: {
    readonly pid: number;
    /** Seconds since the process started. */
    readonly uptime: number;
    /** Processor time in seconds. */
    readonly cpu: { readonly user: number; readonly system: number };
    readonly versions: Readonly<Record<string, string>>;
  };
  /** `process.memoryUsage()`, in bytes. */
  readonly memory?: Readonly<Record<string, number>> | undefined;
  /** `v8.getHeapStatistics()`. */
  readonly heap?: Readonly<Record<string, number>> | undefined;
  /** Since the figures were read before. */
  readonly eventLoop?: {
    /** How late the event loop was, in milliseconds. */
    readonly delay: {
      readonly mean: number;
      readonly p50: number;
      readonly p99: number;
      readonly max: number;
    };
    /** Part of the time in which the event loop worked, 0 to 1. */
    readonly utilization: number;
  };
}

interface NodeProcess {
  readonly pid: number;
  readonly argv: readonly string[];
  readonly versions: Readonly<Record<string, string>>;
  uptime(): number;
  cpuUsage(): { readonly user: number; readonly system: number };
  memoryUsage(): Readonly<Record<string, number>>;
}

interface Histogram {
  readonly mean: number;
  readonly max: number;
  enable(): void;
  reset(): void;
  percentile(percentile: number): number;
}

interface Utilization {
  readonly utilization: number;
}

interface PerfHooks {
  monitorEventLoopDelay(options: { readonly resolution: number }): Histogram;
  readonly performance: {
    eventLoopUtilization(now?: Utilization, before?: Utilization): Utilization;
  };
}

/**
 * Makes a reader of the runtime's figures. On Node it measures the event loop from here on;
 * elsewhere it returns what there is, which may be nothing.
 *
 * @param showArguments - Shows the command line as it is, which may hold secrets.
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function runtimeFigures(options: { readonly showArguments: boolean }): () => RuntimeFigures {
  checkFlag(options.showArguments, "showArguments");
  const process = nodeProcess();
  const readLoop = eventLoopReader();
  const v8 = builtinModule<{ getHeapStatistics(): Record<string, number> }>("node:v8");
  return () => {
    const { argv, pid, versions } = process ?? {};
    const cpu = process?.cpuUsage?.();
    const eventLoop = readLoop?.();
    return {
      ...(argv === undefined ? {} : { cmdline: options.showArguments ? argv : hideValues(argv) }),
      ...(pid === undefined
        ? {}
        : {
            process: {
              pid,
              uptime: process?.uptime?.() ?? 0,
              cpu: { user: (cpu?.user ?? 0) / 1e6, system: (cpu?.system ?? 0) / 1e6 },
              versions: { ...versions },
            },
          }),
      memory: process?.memoryUsage?.(),
      heap: v8?.getHeapStatistics?.(),
      ...(eventLoop === undefined ? {} : { eventLoop }),
    };
  };
}

/** Node's `process`; each member is optional, because other runtimes have some of them. */
function nodeProcess(): Partial<NodeProcess> | undefined {
  const { process } = globalThis as { readonly process?: unknown };
  return typeof process === "object" && process !== null ? process : undefined;
}

/** Keeps program, script and names of flags, and hides everything that may be a value. */
export function hideValues(argv: readonly string[]): readonly string[] {
  return argv.map((argument, index) => {
    if (index < 2) return argument;
    const name = /^--?[A-Za-z][\w-]*/.exec(argument)?.[0];
    if (name === undefined) return "***";
    if (argument.length === name.length) {
      // `-ptoken` is a flag and its value in one.
      return name.startsWith("--") || name.length === 2 ? name : `${name.slice(0, 2)}***`;
    }
    return `${name.startsWith("--") ? name : name.slice(0, 2)}=***`;
  });
}

function eventLoopReader(): (() => NonNullable<RuntimeFigures["eventLoop"]>) | undefined {
  const { monitorEventLoopDelay, performance } = builtinModule<PerfHooks>("node:perf_hooks") ?? {};
  if (monitorEventLoopDelay === undefined || performance === undefined) return undefined;
  const histogram = monitorEventLoopDelay({ resolution: 20 });
  histogram.enable();
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    const delay = {
      mean: milliseconds(histogram.mean),
      p50: milliseconds(histogram.percentile(50)),
      p99: milliseconds(histogram.percentile(99)),
      max: milliseconds(histogram.max),
    };
    histogram.reset();
    return { delay, utilization: Number.isFinite(utilization) ? utilization : 0 };
  };
}

/** Converts nanoseconds; 0 when nothing was measured yet. */
function milliseconds(nanoseconds: number): number {
  const isMeasured = Number.isFinite(nanoseconds) && nanoseconds < 1e15;
  return isMeasured ? Math.round(nanoseconds / 1000) / 1000 : 0;
}

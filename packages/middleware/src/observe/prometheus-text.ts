import type { RuntimeFigures } from "./runtime-figures.ts";

/** One series. */
interface Sample {
  /** Without `_total`. */
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  readonly value: number;
}

/** Formats of Prometheus: its own text, and OpenMetrics. */
export type ExpositionFormat = "prometheus" | "openmetrics";

/** Variables of the user, numbers or nested objects of them; everything else is left out. */
export type Variables = Readonly<Record<string, unknown>>;

/** Maximum depth of nested figures, which also ends a cycle. */
const maxDepth = 5;

/**
 * Writes figures in the text format of Prometheus 0.0.4, or in that of OpenMetrics 1.0. Nested
 * variables have their names joined by `_`; characters that no name may have become `_`.
 */
export function prometheusText(
  figures: RuntimeFigures,
  variables: Variables,
  format: ExpositionFormat,
): string {
  const samples = new Map<string, Sample>();
  for (const sample of [...runtimeSamples(figures), ...variableSamples(variables)]) {
    // Two series of one name would make the whole text invalid.
    if (!samples.has(sample.name)) samples.set(sample.name, sample);
  }
  const lines = [...samples.values()].flatMap(({ name, type, help, value }) => {
    const series = type === "counter" ? `${name}_total` : name;
    const family = format === "openmetrics" ? name : series;
    return [
      `# HELP ${family} ${help}`,
      `# TYPE ${family} ${type}`,
      `${series} ${formatValue(value)}`,
    ];
  });
  if (format === "openmetrics") lines.push("# EOF");
  return `${lines.join("\n")}\n`;
}

function* runtimeSamples(figures: RuntimeFigures): Generator<Sample> {
  const { process, memory, heap, eventLoop } = figures;
  if (process !== undefined) {
    const { cpu, uptime } = process;
    yield counter("process_cpu_user_seconds", "Processor time of the program.", cpu.user);
    yield counter("process_cpu_system_seconds", "Processor time of the system.", cpu.system);
    yield counter("process_cpu_seconds", "Processor time.", cpu.user + cpu.system);
    yield gauge("process_uptime_seconds", "Time since the start.", uptime);
  }
  const resident = memory?.["rss"];
  if (resident !== undefined) {
    yield gauge("process_resident_memory_bytes", "Resident memory.", resident);
  }
  for (const [name, value] of Object.entries(memory ?? {})) {
    if (name !== "rss") yield gauge(`nodejs_memory_${snake(name)}_bytes`, `${name}.`, value);
  }
  for (const [name, value] of Object.entries(heap ?? {})) {
    yield gauge(`nodejs_heap_${snake(name)}`, `${name} of V8.`, value);
  }
  if (eventLoop !== undefined) {
    for (const [name, value] of Object.entries(eventLoop.delay)) {
      yield gauge(`nodejs_eventloop_lag_${name}_seconds`, "Delay of the event loop.", value / 1000);
    }
    const { utilization } = eventLoop;
    yield gauge("nodejs_eventloop_utilization", "Part of the time at work.", utilization);
  }
}

function* variableSamples(variables: Variables, path = "", depth = 0): Generator<Sample> {
  for (const [key, value] of Object.entries(variables)) {
    const name = metricName(path === "" ? key : `${path}_${key}`);
    if (typeof value === "number") yield gauge(name, "Variable of the program.", value);
    else if (typeof value === "bigint") yield gauge(name, "Variable.", Number(value));
    else if (typeof value === "boolean") yield gauge(name, "Variable.", value ? 1 : 0);
    else if (typeof value === "object" && value !== null && depth < maxDepth) {
      yield* variableSamples(Object.fromEntries(Object.entries(value)), name, depth + 1);
    }
  }
}

function gauge(name: string, help: string, value: number): Sample {
  return { name, type: "gauge", help, value };
}

function counter(name: string, help: string, value: number): Sample {
  return { name, type: "counter", help, value };
}

function metricName(text: string): string {
  const name = snake(text).replaceAll(/[^A-Za-z\d_:]/g, "_");
  return /^\d|^$/.test(name) ? `_${name}` : name;
}

function snake(text: string): string {
  return text.replaceAll(/([a-z\d])([A-Z])/g, "$1_$2").toLowerCase();
}

function formatValue(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

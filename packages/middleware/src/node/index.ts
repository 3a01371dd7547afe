export { earlyHints, type EarlyLinks } from "./early-hints.ts";
export { fileServer, type FileServerOptions } from "./file-server.ts";
export { profiler, type ProfilerOptions } from "./profiler.ts";

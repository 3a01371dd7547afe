export { fileServer, type FileServerOptions } from "./file-server.ts";
export { profiler, type ProfilerOptions } from "./profiler.ts";

export { fileServer, type FileServerOptions } from "./file-server.ts";

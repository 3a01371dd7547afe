// Runs on the pinned Node: the API that the tests of `@fetchwork/rest/client` call from every
// runtime.
import { openStore } from "@fetchwork/documents";
import { serve } from "@fetchwork/http/serve";
import { createNotesApi } from "./notes-api.ts";

const api = createNotesApi(await openStore("sqlite::memory:"));
const server = await serve(api.handler, { port: 0, hostname: "127.0.0.1" });
console.log(`http://127.0.0.1:${server.port}`);
await server.finished;

#!/usr/bin/env node
// `npm create fetchwork my-api` runs this program, which is `fetchwork new my-api`.
const manifest = import.meta.resolve("fetchwork/package.json");
process.argv.splice(2, 0, "new");
await import(new URL("bin/fetchwork.mjs", manifest).href);

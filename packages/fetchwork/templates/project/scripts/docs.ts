import path from "node:path";
import { openStore } from "@fetchwork/documents";
import { writeReference } from "@fetchwork/rest";
import { createApp } from "../src/app.ts";
import { projectFolder } from "../src/config.ts";

// Nothing is served here, so the secrets sign nothing and the store stays empty.
const store = await openStore("sqlite::memory:");
const config = { masterKey: "-".repeat(32), jwtSecret: "=".repeat(32), tokenLifetime: 1 };
const folder = path.join(projectFolder, "docs");
await writeReference(createApp(config, store).openApi, folder);
await store.close();
console.log(`The reference is in ${path.relative(process.cwd(), path.join(folder, "index.html"))}`);

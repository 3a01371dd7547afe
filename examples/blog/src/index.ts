import { runService } from "@fetchwork/service";
import { app } from "./app.ts";

await runService(app);

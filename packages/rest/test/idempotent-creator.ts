import { openStore } from "@fetchwork/documents";
import { createContext } from "@fetchwork/http";
import { z } from "zod";
import { createAuthentication } from "../src/accounts/create-authentication.ts";
import { createApi } from "../src/http/api.ts";
import { resourceRoutes } from "../src/http/resource-routes.ts";
import { createResourceController } from "../src/operations/resource-controller.ts";
import { defineResource } from "../src/resource/define-resource.ts";

const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string().min(1), deep: z.unknown().optional() }),
  access: { list: "public", show: "public", create: "user" },
});
const ann = { id: "ann", role: "user", passwordHash: "", sessionVersion: 1 };
const authentication = createAuthentication({
  masterKey: "m".repeat(32),
  jwtSecret: "j".repeat(32),
  accounts: { byId: async () => ann, byEmail: async () => undefined },
});
const api = createApi({
  title: "T",
  version: "1",
  store: await openStore(process.argv[2] ?? ""),
  authentication,
  routes: resourceRoutes(note, createResourceController(note)),
});
const token = await authentication.tokens.issue(ann);
for (let key = 0; ; key += 1) {
  const request = new Request("http://localhost/notes", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${token}`,
      "idempotency-key": `key-${key}`,
    },
    body: JSON.stringify({ text: `note ${key}` }),
  });
  process.send?.(key);
  await api.handler(request, createContext(request));
}

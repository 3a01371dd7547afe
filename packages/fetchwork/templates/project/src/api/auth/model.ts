// #if users
import type { JsonSchema } from "@fetchwork/rest";
import { user } from "../user/model.ts";

/** What signing in yields. */
export const session: JsonSchema = {
  type: "object",
  properties: {
    token: { type: "string", description: "To be sent as `access_token` or Bearer header" },
    user: user.output,
  },
  required: ["token", "user"],
};
// #endif

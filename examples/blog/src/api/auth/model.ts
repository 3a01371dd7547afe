import { z } from "zod";
import { shownUser } from "../user/model.ts";

/** What signing in yields. */
export const session = z.object({
  token: z.string().describe("To be sent as `access_token` or Bearer header"),
  user: shownUser,
});

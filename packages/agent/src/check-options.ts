import { createOptionCheck, type OptionCheck } from "@fetchwork/kit";
import { AgentUsageError } from "./errors.ts";

/** Throws `ERR_AGENT_OPTION` when an object of options has a name that is not an option. */
export const checkOptions: OptionCheck = createOptionCheck(
  (message) => new AgentUsageError("ERR_AGENT_OPTION", message),
);

import type { UntypedWhere } from "@fetchwork/documents";
import type { ResourceCall } from "../resource/call.ts";
import type { Resource } from "../resource/resource.ts";

/**
 * Finds what documents have to pass to be listed to a caller: the condition of the hook
 * `beforeList`. Under the rule `owner` they also have to belong to the caller, but for an admin.
 */
export async function listLimits(
  { access, hooks, owner }: Resource,
  call: ResourceCall<unknown>,
): Promise<UntypedWhere | undefined> {
  const limits = (await hooks.beforeList?.({ call })) ?? undefined;
  if (access.list !== "owner" || owner === undefined || call.user?.role === "admin") return limits;
  // The rule lets only users pass.
  const own = { [owner]: call.user?.id ?? "" };
  return limits ? { and: [limits, own] } : own;
}

import { expect, it } from "vitest";
import { generate_code_sync } from "../src/index.ts";

it.each([[], [undefined], [null], [{}], [5]])(
  "generate_code_sync with the options %j says that the timeout is missing",
  (...options: readonly unknown[]) => {
    const call = (): unknown =>
      Reflect.apply(generate_code_sync, undefined, ["p", "d", "a.js", ...options]);
    expect(call).toThrow(
      expect.objectContaining({
        name: "AgentUsageError",
        code: "ERR_AGENT_OPTION",
        message: "timeout must be milliseconds, got undefined",
      }),
    );
  },
);

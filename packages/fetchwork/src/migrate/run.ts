import { type Command, defineCommand } from "../command/command.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { wholeNumber } from "../command/whole-number.ts";
import { changeOptions, changeStore } from "./change-store.ts";

/** `fetchwork migrate run`. */
export const run: Command = defineCommand({
  summary: "Run pending migrations in parts, while programs serve; one that was killed goes on",
  options: {
    ...changeOptions,
    again: {
      type: "string",
      hint: "number",
      description: "Run this migration again, for what older programs wrote after it ran",
    },
  },
  async run({ values }, io) {
    const again =
      values.again === undefined
        ? undefined
        : wholeNumber("again", values.again, Number.MAX_SAFE_INTEGER, 1);
    const count = await changeStore(values, io, {
      direction: "up",
      choose: ({ applied, pending }, migrations) => {
        if (again === undefined) return pending;
        if (!applied.some(({ id }) => id === again)) {
          throw new CommandUsageError(`--again: migration ${again} did not run yet`);
        }
        return migrations.filter(({ id }) => id === again);
      },
    });
    if (count === 0) io.stderr.write("Nothing to do\n");
    return exitCodes.ok;
  },
});

import { type Command, defineCommand } from "../command/command.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { changeOptions, changeStore } from "./change-store.ts";

/** `fetchwork migrate undo`. */
export const undo: Command = defineCommand({
  summary: "Undo the last migration in parts, where each of its changes has an undo",
  options: changeOptions,
  async run({ values }, io) {
    let last: number | undefined;
    const count = await changeStore(values, io, {
      direction: "undo",
      choose: ({ applied }, migrations) => {
        last ??= applied.at(-1)?.id;
        const wanted = migrations.filter(
          ({ id }) => id === last && applied.some((each) => each.id === id),
        );
        const fault = wanted
          .flatMap(({ changes }) => changes)
          .find((each) => each.undo === undefined);
        if (fault === undefined) return wanted;
        throw new Error(
          `migration ${last ?? 0} cannot be undone: the change of "${fault.collection}" has no undo ` +
            "(`undo: () => undefined` where earlier versions read its documents as they are)",
        );
      },
    });
    if (count === 0) io.stderr.write("Nothing to do\n");
    return exitCodes.ok;
  },
});

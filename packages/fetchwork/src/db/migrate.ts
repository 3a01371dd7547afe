import { administer, openStore, type PlanStep } from "@fetchwork/documents";
import { defineCommand, type Command } from "../command/command.ts";
import { colours, jsonLine, oneLine } from "../command/terminal-text.ts";
import { inProject } from "../files/project-folder.ts";
import { type Definitions, definitionsOption, loadDefinitions } from "./definitions.ts";
import { buildIndexes } from "./restore.ts";
import { describeStep, isPending } from "./describe-step.ts";
import { storeUrl, tryExisting, urlOption } from "./store-url.ts";

/** `fetchwork db migrate`. */
export const migrate: Command = defineCommand({
  summary: "Run pending migrations and build missing indexes",
  options: {
    ...urlOption,
    ...definitionsOption,
    "dry-run": { type: "boolean", description: "Print what would be done without doing it" },
    json: { type: "boolean", description: "Print a line of JSON for each step" },
  },
  async run({ values }, io) {
    const definitions = inProject(await loadDefinitions(values.definitions, io), "definitions");
    const url = storeUrl(values.url, io);
    const isDry = values["dry-run"] === true;
    const { green, dim } = colours(io.stdout);
    const report = (step: PlanStep): void => {
      const word = isDry ? dim("to do") : green("done");
      if (values.json === true) io.stdout.write(jsonLine(step));
      else io.stdout.write(`${word}  ${oneLine(describeStep(step), 10_000)}\n`);
    };
    const steps = (await plan(url, definitions, { isDry })).filter(isPending);
    const { collections, migrations } = definitions;
    if (!isDry && migrations !== undefined) await (await openStore(url, { migrations })).close();
    // Before the indexes, so that it is told also when one of them cannot be built.
    for (const step of steps) if (step.kind === "migrate") report(step);
    if (!isDry) await buildIndexes(url, collections);
    for (const step of steps) if (step.kind !== "migrate") report(step);
    if (definitions.own.length > 0) io.stderr.write("fetchwork migrate run runs src/migrations\n");
    else if (steps.length === 0) io.stderr.write("Nothing to do\n");
    return 0;
  },
});

/** A missing store is planned as an empty one, and a dry run does not create it. */
async function plan(
  url: string,
  { collections, migrations }: Definitions,
  { isDry }: { readonly isDry: boolean },
): Promise<readonly PlanStep[]> {
  await using store =
    (isDry ? await tryExisting(url) : await openStore(url)) ?? (await openStore("sqlite::memory:"));
  return await administer(store).plan({ collections, migrations });
}

import { administer, type PlanStep } from "@fetchwork/documents";
import { pendingMigrations, progressCollection, shownUrl } from "@fetchwork/service/internal";
import { defineCommand, type Command } from "../command/command.ts";
import { colours, jsonLine, oneLine } from "../command/terminal-text.ts";
import { definitionsOption, loadDefinitions } from "./definitions.ts";
import { describeStep, isIndexMissing, isPending } from "./describe-step.ts";
import { documentCount } from "./document-count.ts";
import { openExisting, storeUrl, urlOption } from "./store-url.ts";

/** `fetchwork db status`. */
export const status: Command = defineCommand({
  summary:
    "Show the collections of a store and pending migrations; exits with 3 when any is pending",
  options: {
    ...urlOption,
    ...definitionsOption,
    json: { type: "boolean", description: "Print JSON" },
  },
  async run({ values }, io) {
    const url = storeUrl(values.url, io);
    const definitions = await loadDefinitions(values.definitions, io);
    const { collections, migrations, own = [] } = definitions ?? {};
    await using store = await openExisting(url);
    const care = administer(store);
    const held = await care.status();
    const pending = own.length === 0 ? [] : await pendingMigrations(store, own);
    const planned = definitions === undefined ? [] : await care.plan({ collections, migrations });
    const steps: readonly PlanStep[] = [
      ...pending.map(({ id, name }) => ({ kind: "migrate", id, name }) as const),
      ...planned.filter(
        (step) => step.kind === "migrate" || step.collection !== progressCollection.name,
      ),
    ];
    const code = steps.some(isPending) ? 3 : 0;
    if (values.json === true) {
      const shown = { definitions: collections, steps, pending: code !== 0 };
      io.stdout.write(jsonLine({ url: shownUrl(url), ...held, ...shown }));
      return code;
    }
    const { green, red, dim } = colours(io.stdout);
    const print = (line: string): void => io.stdout.write(`${line}\n`);
    print(`${oneLine(shownUrl(url))}  ${held.engine}, ${held.bytes} bytes`);
    for (const { name, documents } of held.collections) {
      print(`collection ${oneLine(name)}: ${documentCount(documents)}`);
      const definition = collections?.find((each) => each.name === name);
      const declared = [...(definition?.unique ?? []), ...(definition?.indexes ?? [])];
      // Unique fields may also be an index.
      for (const fields of new Map(declared.map((each) => [each.join(), each])).values()) {
        if (isIndexMissing(steps, name, fields)) continue;
        print(`  index (${oneLine(fields.join(", "))}) ${green("present")}`);
      }
    }
    for (const { id, name, at } of held.migrations) {
      print(`migration ${id}: ${oneLine(name)} ${green("applied")} ${dim(oneLine(at))}`);
    }
    for (const step of steps) {
      print(`${isPending(step) ? red("pending") : dim("note")}  ${oneLine(describeStep(step))}`);
    }
    if (definitions === undefined) {
      io.stderr.write("Pass --definitions to see what is pending\n");
    }
    return code;
  },
});

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { CommandIo } from "../command/command-io.ts";
import { defineCommand, type Command } from "../command/command.ts";
import { readInput } from "../command/read-input.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { deliver } from "./deliver.ts";
import { checkHeaderText, withUsageFaults } from "./usage-faults.ts";
import { secretOf, vendorOf, vendorOptions } from "./vendor-options.ts";

/** `fetchwork webhooks send`. */
export const sendFile: Command = defineCommand({
  summary: "Sign a file and send it as a delivery",
  positionals: ["file"],
  options: {
    url: { type: "string", short: "u", description: "URL to send it to" },
    event: { type: "string", short: "e", hint: "name", description: "Event name" },
    id: { type: "string", description: "Delivery identifier (default: a random UUID)" },
    "content-type": {
      type: "string",
      hint: "type",
      description: "Content type (default: the vendor's)",
    },
    ...vendorOptions,
    json: { type: "boolean", description: "Print the result as JSON" },
  },
  run: ({ values, positionals }, io) =>
    withUsageFaults(async () => {
      const vendor = vendorOf(values);
      const secret = await secretOf(values, io);
      const { url, event, id = crypto.randomUUID() } = values;
      if (url === undefined) throw new CommandUsageError("--url is missing");
      if (secret === undefined)
        throw new CommandUsageError(
          "a secret is required: set FETCHWORK_WEBHOOK_SECRET or pass --secret-file",
        );
      if (event === undefined && vendor.eventHeader !== undefined) {
        throw new CommandUsageError("--event is missing");
      }
      const type = values["content-type"] ?? vendor.contentType ?? "application/json";
      if (event !== undefined) checkHeaderText("event", event);
      checkHeaderText("id", id);
      checkHeaderText("content-type", type);
      const body = await bytesOf(positionals[0] ?? "", io);
      const headers = new Headers({ "content-type": type });
      if (vendor.eventHeader !== undefined) headers.set(vendor.eventHeader, event ?? "");
      if (vendor.deliveryHeader !== undefined) headers.set(vendor.deliveryHeader, id);
      return deliver(
        { url, headers, body, id, signing: { vendor, secret } },
        { io, asJson: values.json === true },
      );
    }),
});

async function bytesOf(file: string, io: CommandIo): Promise<Uint8Array> {
  return file === "-" ? readInput(io, Infinity) : readFile(resolve(io.cwd, file));
}

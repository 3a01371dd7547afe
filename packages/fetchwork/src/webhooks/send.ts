import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Vendor } from "@fetchwork/webhooks";
import type { CommandIo } from "../command/command-io.ts";
import { defineCommand, type Command, type OptionValues } from "../command/command.ts";
import { readInput } from "../command/read-input.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { deliver, type Outgoing } from "./deliver.ts";
import { contentOf } from "./delivery-content.ts";
import { headersToSend, parseDelivery, type SavedDelivery } from "./saved-delivery.ts";
import { checkHeaderText, withUsageFaults } from "./usage-faults.ts";
import { secretOf, vendorOf, vendorOptions } from "./vendor-options.ts";

const options = {
  url: { type: "string", short: "u", description: "URL to send to" },
  event: { type: "string", short: "e", hint: "name", description: "Event name" },
  id: { type: "string", description: "Delivery identifier (default: a random UUID)" },
  ...vendorOptions,
  json: { type: "boolean", description: "Print the results as JSON" },
} as const;

/** `fetchwork webhooks send`. */
export const send: Command = defineCommand({
  summary: "Sign files and send them; saved deliveries also go unchanged, without a secret",
  positionals: ["file", "[file...]"],
  options,
  run: ({ values, positionals }, io) =>
    withUsageFaults(async () => {
      const vendor = vendorOf(values);
      const secret = await secretOf(values, io);
      const { url, json = false } = values;
      if (url === undefined) throw new CommandUsageError("--url is missing");
      const signing = secret === undefined ? undefined : { vendor, secret };
      let code = 0;
      for (const file of positionals) {
        const bytes = await bytesOf(file, io);
        const saved = parseDelivery(bytes);
        if (saved === undefined && signing === undefined) {
          throw new CommandUsageError(
            "a secret is required: set FETCHWORK_WEBHOOK_SECRET or pass --secret-file",
          );
        }
        const message =
          saved === undefined
            ? { ...newMessage(vendor, values), body: bytes }
            : { ...savedMessage(vendor, saved), body: saved.body };
        const result = await deliver({ url, signing, ...message }, { io, asJson: json });
        code = Math.max(code, result);
      }
      return code;
    }),
});

type Message = Pick<Outgoing, "headers" | "id">;

/** The message that a file becomes. */
function newMessage(vendor: Vendor, values: OptionValues<typeof options>): Message {
  const { event, id = crypto.randomUUID() } = values;
  if (event === undefined && vendor.eventHeader !== undefined) {
    throw new CommandUsageError("--event is missing");
  }
  if (event !== undefined) checkHeaderText("event", event);
  checkHeaderText("id", id);
  const headers = new Headers({ "content-type": vendor.contentType ?? "application/json" });
  if (vendor.eventHeader !== undefined) headers.set(vendor.eventHeader, event ?? "");
  if (vendor.deliveryHeader !== undefined) headers.set(vendor.deliveryHeader, id);
  return { headers, id };
}

/** The message of a saved delivery, with its headers and identifier. */
function savedMessage(vendor: Vendor, delivery: SavedDelivery): Message {
  const headers = headersToSend(delivery);
  return { headers, id: contentOf(vendor, delivery).id || undefined };
}

async function bytesOf(file: string, io: CommandIo): Promise<Uint8Array> {
  return file === "-" ? readInput(io, Infinity) : readFile(resolve(io.cwd, file));
}

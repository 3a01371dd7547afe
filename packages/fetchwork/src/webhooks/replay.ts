import { resolve } from "node:path";
import { isConnectionHeader } from "@fetchwork/kit";
import { defineCommand, type Command } from "../command/command.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { deliver } from "./deliver.ts";
import { contentOf } from "./delivery-content.ts";
import { readDelivery } from "./saved-delivery.ts";
import { withUsageFaults } from "./usage-faults.ts";
import { secretOf, vendorOf, vendorOptions, vendors } from "./vendor-options.ts";

/** Headers of the saved request that the new one sets itself, next to those of the connection. */
const ownHeaders: ReadonlySet<string> = new Set([
  "accept-encoding",
  "content-length",
  "expect",
  "host",
  "proxy-authorization",
]);

/** `fetchwork webhooks replay`. */
export const replay: Command = defineCommand({
  summary: "Send saved deliveries again, unchanged or with a new signature",
  positionals: ["file", "[file...]"],
  options: {
    url: { type: "string", short: "u", description: "URL to send them to" },
    ...vendorOptions,
    json: { type: "boolean", description: "Print the results as JSON" },
  },
  run: ({ values, positionals }, io) =>
    withUsageFaults(async () => {
      const vendor = vendorOf(values);
      const secret = await secretOf(values, io);
      const { url } = values;
      if (url === undefined) throw new CommandUsageError("--url is missing");
      let code = 0;
      for (const file of positionals) {
        const delivery = await readDelivery(resolve(io.cwd, file));
        const kept = delivery.headers.filter(([name]) => {
          const key = name.toLowerCase();
          return !isConnectionHeader(key) && !ownHeaders.has(key);
        });
        const headers = new Headers(kept.map(([name, value]): [string, string] => [name, value]));
        const id = contentOf(vendor, delivery).id || sentId(headers);
        const signing = secret === undefined ? undefined : { vendor, secret };
        const result = await deliver(
          { url, headers, body: delivery.body, id, signing },
          { io, asJson: values.json === true },
        );
        code = Math.max(code, result);
      }
      return code;
    }),
});

/** The identifier in the headers of a delivery, for any vendor. */
function sentId(headers: Headers): string | undefined {
  for (const { deliveryHeader } of vendors.values()) {
    const id = deliveryHeader === undefined ? null : headers.get(deliveryHeader);
    if (id !== null && id !== "") return id;
  }
  return undefined;
}

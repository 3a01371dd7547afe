// A process that stores events and sends none; killed by the tests. Arguments: the store's URL, how
// many.
import { openStore } from "@fetchwork/documents";
import { createSender } from "@fetchwork/webhooks/sender";

const [url = "", count = "1"] = process.argv.slice(2);
const store = await openStore(url, { busyTimeout: 15_000 });
const sender = createSender({ store });
const sends = Array.from({ length: Number(count) }, (_, n) =>
  n % 2 === 0
    ? sender.send({ name: "a", payload: { n } })
    : store.transaction((transaction) =>
        sender.send({ name: "a", payload: { n } }, { transaction }),
      ),
);
console.log((await Promise.all(sends)).map(({ id }) => id).join(" "));
setInterval(() => undefined, 60_000);

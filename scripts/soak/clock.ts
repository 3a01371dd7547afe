// Loaded into each process of the soak before its program: moves the clock of the process by as
// many milliseconds as the file of the variable SOAK_CLOCK says. `<file>.<pid>` is for one process
// only.
import { readFileSync } from "node:fs";

const file = process.env["SOAK_CLOCK"] ?? "";
const RealDate = Date;
let offset = readOffset();

setInterval(() => (offset = readOffset()), 50).unref();

globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(RealDate.now() + offset).toString(),
  construct: (_target, given: readonly unknown[], newTarget) =>
    Reflect.construct(
      RealDate,
      given.length === 0 ? [RealDate.now() + offset] : given,
      newTarget,
    ) as Date,
  get: (target, name) =>
    name === "now" ? () => RealDate.now() + offset : (Reflect.get(target, name) as unknown),
});

function readOffset(): number {
  for (const path of [`${file}.${process.pid}`, file]) {
    try {
      const found = Number(readFileSync(path, "utf8"));
      if (Number.isFinite(found)) return found;
    } catch {
      // The clock of this process was not moved.
    }
  }
  return 0;
}

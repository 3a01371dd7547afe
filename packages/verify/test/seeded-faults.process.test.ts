import { checkSeeded } from "./check-seeded.ts";

// Half of the faults; `seeded-faults-even.process.test.ts` runs the others at the same time.
checkSeeded((index) => index % 30 !== 0 && index % 2 !== 0);

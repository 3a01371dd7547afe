import { checkSeeded } from "./check-seeded.ts";

// Half of the faults; `seeded-faults-even.process.test.ts` has the other half, so that both run at once.
checkSeeded((index) => index % 30 !== 0 && index % 2 !== 0);

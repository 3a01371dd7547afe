import { checkSeeded } from "./check-seeded.ts";

// Half of them: `seeded-faults-even.process.test.ts` has the others, so that they run beside these.
checkSeeded((index) => index % 30 !== 0 && index % 2 !== 0);

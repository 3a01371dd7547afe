import { checkSeeded } from "./check-seeded.ts";

// All of them take minutes: the others are in `seeded-faults.process.test.ts` and `seeded-faults-even.process.test.ts`.
checkSeeded((index) => index % 30 === 0);

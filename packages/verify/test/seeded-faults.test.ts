import { checkSeeded } from "./check-seeded.ts";

// All of them take minutes: the others are in two files that end in `.process.test.ts`.
checkSeeded((index) => index % 30 === 0);

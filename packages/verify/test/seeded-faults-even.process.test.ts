import { checkSeeded } from "./check-seeded.ts";

checkSeeded((index) => index % 30 !== 0 && index % 2 === 0);

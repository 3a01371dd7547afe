import { checkSeeded } from "./check-seeded.ts";

checkSeeded((index) => index % 6 !== 0);

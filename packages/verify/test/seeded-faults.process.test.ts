import { checkSeeded } from "./check-seeded.ts";

checkSeeded((index) => index % 15 !== 0);

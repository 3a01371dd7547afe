// Loaded before a program that runs long: it stops when the npm that started it ends.
import { stopWithNpm } from "../packages/service/src/processes/stop-with-npm.ts";

stopWithNpm();

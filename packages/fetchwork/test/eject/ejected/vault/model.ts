export { vault } from "../../../../../rest/test/contract/whole-api.ts";

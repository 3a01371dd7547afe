export { note } from "../../../../../rest/test/contract/whole-api.ts";

export { person } from "../../../../../rest/test/contract/whole-api.ts";

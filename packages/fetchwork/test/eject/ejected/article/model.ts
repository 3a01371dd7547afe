export { article } from "../../../../../rest/test/contract/whole-api.ts";

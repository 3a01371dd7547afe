// #if users
/** Makes what the routes of users do; `fetchwork eject users` writes it out. */
export { createUserController } from "@fetchwork/rest/accounts";
// #endif

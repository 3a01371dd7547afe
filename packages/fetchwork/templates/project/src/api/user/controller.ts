/** Makes what the routes of users do; spread it to replace a handler. */
export { createUserController } from "@fetchwork/rest/accounts";

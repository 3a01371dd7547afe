// For the other packages of Fetchwork that send requests. It loads neither undici nor the server
// nor the client.
export { ExchangeWatch, watchBody } from "./client/transport/exchange-watch.ts";
export { connectionReasonOf, systemCodeOf } from "./client/transport/system-code.ts";
export type { ConnectionFailure } from "./client/transport/transport-errors.ts";

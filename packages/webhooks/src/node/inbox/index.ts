export { createInbox, type DeadDelivery, type Inbox } from "./inbox.ts";
export type { InboxContext, InboxOptions } from "./inbox-options.ts";

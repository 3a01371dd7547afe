export { createPortal, type Portal, type PortalOptions } from "./create-portal.ts";

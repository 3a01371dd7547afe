import type { TakenResponse } from "@fetchwork/http/internal";

export {
  replaceBody,
  takeResponse,
  type ResponseBody as ReplacedBody,
  type TakenResponse,
} from "@fetchwork/http/internal";

/** Parts that a new response takes over from an old one. */
export type ResponseHead = Omit<TakenResponse, "headers" | "body">;

/** Whether somebody has read the body. Cheap while no platform `Response` exists. */
export function isBodyUsed(response: Response): boolean {
  return response.bodyUsed;
}

import {
  BodyTooLargeError,
  formatBasicCredentials,
  isFetchworkError,
  isPublicAddress,
  maskUrl,
  parseBasicCredentials,
  readBody,
} from "@fetchwork/kit";
import { expect, type Platform } from "../platform.ts";

/**
 * Reads requests up to a limit on a server of the runtime, and answers with what the kit makes of
 * them.
 */
export async function smoke(platform: Platform): Promise<void> {
  const listener = await platform.listen(async (request) => {
    try {
      const { byteLength: size } = await readBody(request.body, { limit: 10 });
      const credentials = parseBasicCredentials(request.headers.get("authorization"));
      return Response.json({ size, user: credentials?.username ?? null });
    } catch (error) {
      if (!(error instanceof BodyTooLargeError)) throw error;
      return new Response(error.code, { status: error.status });
    }
  });
  const authorization = formatBasicCredentials({ username: "ada", password: "pässword" });
  const send = (body: string): Promise<Response> =>
    fetch(listener.origin, { method: "POST", headers: { authorization }, body });
  expect("a body", await (await send("0123456789")).json(), { size: 10, user: "ada" });
  const refused = await send("0123456789+");
  expect("the refusal", [refused.status, await refused.text()], [413, "ERR_KIT_BODY_TOO_LARGE"]);
  await listener.close();

  expect("a URL", maskUrl("https://a:b@host/?code=1&q=2"), "https://***@host/?code=***&q=2");
  expect("addresses", ["64:ff9b::a00:1", "8.8.8.8"].map(isPublicAddress), [false, true]);
  expect("the brand", isFetchworkError(new BodyTooLargeError(1)), true);
}

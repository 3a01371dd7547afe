import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  browse,
  startProvider,
  type ProviderServer,
} from "../../packages/oauth2/test/provider-server.ts";
import { importBlock } from "./page-block.ts";

const page = "from-openid-client.md";
const redirectUri = "https://app.example.com/callback";
const secret = "a secret of at least thirty-two characters";

/** What the code before the move exports, and the code after it. */
interface SignIn {
  signIn(): Promise<{ readonly url: string; readonly transaction: object }>;
  callback(url: string, transaction: object): Promise<object>;
}

let server: ProviderServer;
let before: SignIn;
let after: SignIn;

beforeAll(async () => {
  const client = { client_secret: secret, redirect_uris: [redirectUri], scope: "openid email" };
  server = await startProvider(() => ({
    pkce: { required: () => true },
    clients: [{ client_id: "tv", ...client }],
  }));
  const issuer = { "https://id.example.com": server.issuer };
  before = await importBlock<SignIn>(page, "js", {
    ...issuer,
    // The provider of the test has no TLS.
    [`ClientSecretBasic("${secret}")`]: `ClientSecretBasic("${secret}"), { execute: [openid.allowInsecureRequests] }`,
  });
  after = await importBlock<SignIn>(page, "ts", issuer);
});

afterAll(() => server.close());

describe.each([
  {
    when: "before",
    code: () => before,
    refusal: { code: "OAUTH_INVALID_RESPONSE" },
    denial: { error: "access_denied" },
  },
  {
    when: "after",
    code: () => after,
    refusal: { code: "ERR_OAUTH_CALLBACK", status: 400 },
    denial: { code: "access_denied", status: 400 },
  },
])("the code of from-openid-client.md $when the move", ({ code, refusal, denial }) => {
  it("asks for a sign-in with PKCE, state and nonce", async () => {
    const { url } = await code().signIn();
    const { origin, searchParams } = new URL(url);
    expect(origin).toBe(server.issuer);
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: "tv",
      response_type: "code",
      redirect_uri: redirectUri,
      scope: "openid email",
      state: expect.stringMatching(/^[\w-]{20,}$/),
      nonce: expect.stringMatching(/^[\w-]{20,}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
  });

  it("signs a user in", async () => {
    const { url, transaction } = await code().signIn();
    const back = await browse(url, redirectUri);
    await expect(code().callback(back.href, transaction)).resolves.toEqual({
      sub: "user-1",
      email: "ada@example.com",
    });
  });

  it("keeps its transaction in a session, as JSON", async () => {
    const { url, transaction } = await code().signIn();
    const back = await browse(url, redirectUri);
    const kept = JSON.parse(JSON.stringify(transaction)) as object;
    await expect(code().callback(back.href, kept)).resolves.toHaveProperty("sub", "user-1");
  });

  it("refuses a callback with the state of another sign-in", async () => {
    const { url } = await code().signIn();
    const { transaction } = await code().signIn();
    const back = await browse(url, redirectUri);
    await expect(code().callback(back.href, transaction)).rejects.toMatchObject(refusal);
  });

  it("refuses a callback that names another issuer", async () => {
    const { url, transaction } = await code().signIn();
    const back = await browse(url, redirectUri);
    back.searchParams.set("iss", "https://other.example");
    await expect(code().callback(back.href, transaction)).rejects.toMatchObject(refusal);
  });

  it("throws the error of a user who refused", async () => {
    const { url, transaction } = await code().signIn();
    const back = await browse(url, redirectUri);
    back.searchParams.delete("code");
    back.searchParams.set("error", "access_denied");
    await expect(code().callback(back.href, transaction)).rejects.toMatchObject(denial);
  });
});

describe("the code of from-openid-client.md after the move", () => {
  it("cannot finish a sign-in that openid-client began", async () => {
    const { url, transaction } = await before.signIn();
    const back = await browse(url, redirectUri);
    await expect(after.callback(back.href, transaction)).rejects.toThrow(/transaction/);
  });
});

import { createEndpoint, type Endpoint } from "@fetchwork/endpoint";
import { Client } from "@fetchwork/http";

/** A user, as the blog shows it to itself. */
export interface User {
  readonly id: string;
  readonly email: string;
}

/** An article of the blog. */
export interface Article {
  readonly id: string;
  readonly title: string;
  readonly content: string;
}

/** Email and password. */
export interface Account {
  readonly email: string;
  readonly password: string;
}

/** The calls of the blog's API that this program needs. */
export class BlogApi {
  readonly #endpoint: Endpoint;
  readonly #client: Client;

  constructor(baseUrl: string) {
    this.#endpoint = createEndpoint({ baseUrl, userAgent: "client-example" });
    this.#client = new Client({ timeout: 10_000, retry: 2, throwOnStatus: true });
  }

  /** Creates a user; the master key allows it. */
  async createUser(account: Account, masterKey: string): Promise<User> {
    const request = this.#endpoint("POST /users", { ...account, access_token: masterKey });
    return (await this.#client.send(request)).json<User>();
  }

  /** Signs a user in, and returns its token. */
  async signIn({ email, password }: Account, masterKey: string): Promise<string> {
    const headers = { authorization: `Basic ${btoa(`${email}:${password}`)}` };
    const request = this.#endpoint("POST /auth", { headers, access_token: masterKey });
    return (await this.#client.send(request)).json<{ token: string }>().token;
  }

  /** Writes an article. */
  async write(article: Omit<Article, "id">, token: string): Promise<Article> {
    const headers = { authorization: `Bearer ${token}` };
    const request = this.#endpoint("POST /articles", { headers, ...article });
    return (await this.#client.send(request)).json<Article>();
  }

  /** Finds articles by words; `total` counts all of them, whatever the limit is. */
  async find(
    q: string,
    limit: number,
  ): Promise<{ readonly articles: Article[]; readonly total: number }> {
    const response = await this.#client.send(this.#endpoint("GET /articles", { q, limit }));
    return {
      articles: response.json<Article[]>(),
      total: Number(response.header("x-total-count")),
    };
  }

  /** Removes an article; false when it was not there. */
  async remove(id: string, token: string): Promise<boolean> {
    const headers = { authorization: `Bearer ${token}` };
    const request = this.#endpoint("DELETE /articles/{id}", { headers, id });
    const { statusCode } = await this.#client.send(request, { throwOnStatus: false });
    return statusCode === 204;
  }
}

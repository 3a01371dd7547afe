/** What a receiver uses of Node's `IncomingMessage`, with what frameworks and clouds put on it. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Express: the URL before a router took its part off. */
  readonly originalUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** A body that somebody read before: bytes and text are used, anything else is not. */
  readonly body?: unknown;
  /** Bytes or text of a body that somebody read before, as some clouds keep them. */
  readonly rawBody?: unknown;
  /** Whether somebody has read, or begun to. */
  readonly readableDidRead?: boolean;
  /** Whether nothing more will come, because the connection broke or somebody ended it. */
  readonly destroyed?: boolean;
  /** Whether all of the body has come. */
  readonly complete?: boolean;
  on(event: string, listener: (value: Uint8Array) => void): unknown;
  off(event: string, listener: (value: Uint8Array) => void): unknown;
  resume(): unknown;
  destroy(error?: Error): unknown;
}

/** What a receiver uses of Node's `ServerResponse`. */
export interface NodeResponse {
  readonly headersSent: boolean;
  readonly destroyed?: boolean;
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: Uint8Array): unknown;
}

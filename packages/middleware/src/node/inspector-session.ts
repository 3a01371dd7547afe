import type { Session } from "node:inspector";

/** Sends a command of the inspector's protocol. */
export type InspectorPost = (method: string, parameters?: object) => Promise<unknown>;

/** A session of the inspector, open while a function runs. */
export interface InspectorSession {
  readonly post: InspectorPost;
  /** Resolves when the event arrives. */
  readonly next: (event: string) => Promise<unknown>;
  /** Calls back for every event of this name. */
  readonly each: (event: string, listener: (parameters: unknown) => void) => void;
}

/** Opens a session with this thread's inspector, and closes it after the function in any case. */
export async function withInspector<T>(use: (session: InspectorSession) => Promise<T>): Promise<T> {
  // A Node that was built without the inspector fails here and not when the program starts.
  const { Session } = await import("node:inspector");
  const session = new Session();
  session.connect();
  try {
    return await use({
      post: (method, parameters) => post(session, method, parameters),
      next: (event) =>
        new Promise((resolve) => {
          session.once(event, (message: unknown) => resolve(parametersOf(message)));
        }),
      each: (event, listener) => {
        session.on(event, (message: unknown) => listener(parametersOf(message)));
      },
    });
  } finally {
    session.disconnect();
  }
}

function post(session: Session, method: string, parameters: object | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    session.post(method, parameters, (error: Error | null, result?: object) => {
      if (error === null) resolve(result);
      else reject(new Error(`the inspector refused ${method}`, { cause: error }));
    });
  });
}

function parametersOf(message: unknown): unknown {
  return typeof message === "object" && message !== null && "params" in message
    ? message.params
    : undefined;
}

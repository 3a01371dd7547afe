/** What happens around a body that is read. */
export interface BodyWatch {
  /** Called once, when the body has ended, failed or was cancelled. */
  readonly onEnd: () => void;
  /** What an error of the body means. */
  readonly explain: (error: unknown) => unknown;
}

/** Passes a body on, piece by piece as it is asked for. */
export function watchBody(
  body: ReadableStream<Uint8Array>,
  { onEnd, explain }: BodyWatch,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          onEnd();
          controller.close();
        } catch (error) {
          onEnd();
          throw explain(error);
        }
      },
      async cancel(reason) {
        onEnd();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

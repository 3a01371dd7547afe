/** How a body ended; without both it was read whole. */
export interface BodyEnd {
  /** The error that the body failed with. */
  readonly error?: unknown;
  /** Whether its reader cancelled it. */
  readonly aborted?: boolean;
}

/** Callbacks while a body is passed on. */
export interface BodyPass {
  /** Called with each piece; the body fails with an error that it throws. */
  readonly onPiece?: ((piece: Uint8Array) => void) | undefined;
  /** Called once. */
  readonly onEnd?: ((end: BodyEnd) => void) | undefined;
  /** Returns the meaning of an error of the body. */
  readonly explain?: ((error: unknown) => unknown) | undefined;
}

/** Passes a body on, piece by piece on demand: one that is never read costs nothing. */
export function passOn<Bytes extends Uint8Array>(
  body: ReadableStream<Bytes>,
  { onPiece, onEnd, explain }: BodyPass,
): ReadableStream<Bytes> {
  const reader = body.getReader();
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            controller.close();
            onEnd?.({});
            return;
          }
          onPiece?.(value);
          controller.enqueue(value);
        } catch (error) {
          reader.cancel(error).catch(() => undefined);
          onEnd?.({ error });
          throw explain?.(error) ?? error;
        }
      },
      async cancel(reason) {
        onEnd?.({ aborted: true });
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

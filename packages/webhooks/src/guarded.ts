/** Wraps a listener so that it never throws. Its errors and rejections go to `onFailure`. */
export function guarded<Parameters extends readonly unknown[]>(
  listener: (...parameters: Parameters) => unknown,
  onFailure: (error: unknown) => void,
): (...parameters: Parameters) => void {
  const call = async (parameters: Parameters): Promise<void> => {
    try {
      await listener(...parameters);
    } catch (error) {
      onFailure(error);
    }
  };
  return (...parameters) => void call(parameters);
}

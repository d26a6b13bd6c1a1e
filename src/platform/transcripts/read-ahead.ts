/**
 * Takes what a decoder makes before it is wanted, up to a bound: a decoder that has a process to itself is done with
 * a clip of a few minutes in a moment, and does not wait for the engine that hears it. A failure is told at once,
 * before what came ahead of it.
 */
export async function* readAhead(
  audio: AsyncIterable<Int16Array>,
  mostSamples: number,
): AsyncGenerator<Int16Array> {
  const iterator = audio[Symbol.asyncIterator]();
  const pieces: Int16Array[] = [];
  let held = 0;
  let isOver = false;
  let failure: { readonly error: unknown } | undefined;
  let isStopped = false;
  let change = Promise.withResolvers<void>();
  const changed = () => {
    change.resolve();
    change = Promise.withResolvers();
  };

  async function read(): Promise<void> {
    try {
      while (!isStopped) {
        if (held >= mostSamples) {
          await change.promise;
          continue;
        }
        const step = await iterator.next();
        if (step.done === true) break;
        pieces.push(step.value);
        held += step.value.length;
        changed();
      }
    } catch (error) {
      failure = { error };
    }
    isOver = true;
    changed();
  }

  const reading = read();
  try {
    for (;;) {
      if (failure !== undefined) throw failure.error;
      const piece = pieces.shift();
      if (piece !== undefined) {
        held -= piece.length;
        changed();
        yield piece;
      } else if (isOver) return;
      else await change.promise;
    }
  } finally {
    isStopped = true;
    changed();
    await iterator.return?.();
    await reading;
  }
}

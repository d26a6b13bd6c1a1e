/** Arithmetic on vectors. No native code: the gateway's process uses it too. */

/** The cosine, for vectors of length 1. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/** To length 1, in place. A vector of zeros stays one. */
export function normalize(vector: Float32Array): void {
  const length = Math.sqrt(dot(vector, vector));
  if (length === 0) return;
  for (let i = 0; i < vector.length; i += 1) vector[i] = (vector[i] as number) / length;
}

/** Vectors as every embedding engine hands them over. */

/**
 * The first `dimensions` values, brought to length 1 (L2). Models that are trained for shorter vectors are trained
 * for exactly this. Undefined when a value is no finite number or there are too few; a vector of zeros stays one.
 */
export function toUnitVector(
  values: Float32Array,
  dimensions: number = values.length,
): Float32Array | undefined {
  if (values.length < dimensions) return undefined;
  const vector = values.length === dimensions ? values : values.slice(0, dimensions);
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += vector[i]! * vector[i]!;
  if (!Number.isFinite(sum)) return undefined;
  if (sum === 0 || Math.abs(sum - 1) < nearEnough) return vector;
  const factor = 1 / Math.sqrt(sum);
  for (let i = 0; i < vector.length; i++) vector[i]! *= factor;
  return vector;
}

/** A vector that an engine has normalised is handed on bit by bit. */
const nearEnough = 1e-5;

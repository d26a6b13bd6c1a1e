/** The discrete Fourier transform of a fixed length with small prime factors, such as 400. Pure. */

/** Transforms complex numbers in place of `real` and `imaginary`, both of the length it was made for. */
export type Transform = (real: Float64Array, imaginary: Float64Array) => void;

/** Cooley and Tukey's way by mixed radices: 400 = 4·4·5·5 takes 18 steps a value where the definition takes 400. */
export function createTransform(length: number): Transform {
  const cosines = Float64Array.from({ length }, (_, i) => Math.cos((2 * Math.PI * i) / length));
  const sines = Float64Array.from({ length }, (_, i) => -Math.sin((2 * Math.PI * i) / length));
  const radices = factorize(length);
  let fromReal: Float64Array = new Float64Array(length);
  let fromImaginary: Float64Array = new Float64Array(length);

  return (real, imaginary) => {
    let toReal = real;
    let toImaginary = imaginary;
    // Stockham's order: every stage writes where the next one reads in sequence, so nothing is sorted at the end.
    let count = length;
    let stride = 1;
    for (const radix of radices) {
      [fromReal, toReal] = [toReal, fromReal];
      [fromImaginary, toImaginary] = [toImaginary, fromImaginary];
      const next = count / radix;
      for (let p = 0; p < next; p++) {
        for (let out = 0; out < radix; out++) {
          for (let q = 0; q < stride; q++) {
            let sumReal = 0;
            let sumImaginary = 0;
            for (let each = 0; each < radix; each++) {
              const at = q + stride * (p + next * each);
              const turn = ((each * next * out + p * out) * stride) % length;
              const cosine = cosines[turn]!;
              const sine = sines[turn]!;
              const re = fromReal[at]!;
              const im = fromImaginary[at]!;
              sumReal += re * cosine - im * sine;
              sumImaginary += re * sine + im * cosine;
            }
            const to = q + stride * (radix * p + out);
            toReal[to] = sumReal;
            toImaginary[to] = sumImaginary;
          }
        }
      }
      count = next;
      stride *= radix;
    }
    if (toReal === real) return;
    real.set(toReal);
    imaginary.set(toImaginary);
    fromReal = toReal;
    fromImaginary = toImaginary;
  };
}

/** Fours first: they take as many steps as two twos, with half the writing. */
function factorize(length: number): number[] {
  const factors: number[] = [];
  let rest = length;
  while (rest % 4 === 0) {
    factors.push(4);
    rest /= 4;
  }
  for (let factor = 2; rest > 1; factor++) {
    while (rest % factor === 0) {
      factors.push(factor);
      rest /= factor;
    }
  }
  return factors;
}

/**
 * How a word that no dictionary has is probably spoken: the small recurrent network of g2p-en (Apache-2.0), an
 * encoder over the letters and a decoder over ARPAbet, 3 million weights. A word takes a few milliseconds.
 */
interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

interface Gru {
  readonly input: Matrix;
  readonly hidden: Matrix;
  readonly inputBias: Float32Array;
  readonly hiddenBias: Float32Array;
}

type Weights = Readonly<Record<string, { readonly shape: readonly number[]; readonly data: string }>>;

/** The longest word in sounds; the network was trained on no longer ones. */
const mostPhones = 20;
const startToken = 2;
const endToken = 3;

export type GuessPhones = (word: string) => string[];

/** `file` is `g2p_model.json`: matrices of little-endian float32 in base64, and the two alphabets. */
export function createGuess(file: string): GuessPhones {
  const raw = JSON.parse(file) as Weights & { graphemes: unknown; phonemes: unknown };
  const matrix = (name: string): Matrix => {
    const { shape = [], data = '' } = raw[name] ?? {};
    const [rows = 0, columns = 1] = shape;
    const values = new Float32Array(new Uint8Array(Buffer.from(data, 'base64')).buffer);
    if (values.length === 0 || values.length !== rows * columns) throw new Error(`${name} is not a matrix`);
    return { rows, columns, values };
  };
  const gru = (side: 'enc' | 'dec'): Gru => ({
    input: matrix(`${side}_w_ih`),
    hidden: matrix(`${side}_w_hh`),
    inputBias: matrix(`${side}_b_ih`).values,
    hiddenBias: matrix(`${side}_b_hh`).values,
  });
  const letters = new Map((raw.graphemes as string[]).map((letter, index) => [letter, index]));
  const phones = raw.phonemes as string[];
  const [letterRows, phoneRows, last] = [matrix('enc_emb'), matrix('dec_emb'), matrix('fc_w')];
  const lastBias = matrix('fc_b').values;
  const [encoder, decoder] = [gru('enc'), gru('dec')];
  const width = encoder.hidden.columns;

  return (word) => {
    let state: Float32Array = new Float32Array(width);
    const unknown = letters.get('<unk>') ?? 1;
    for (const letter of [...word.toLowerCase(), '</s>'])
      state = step(encoder, rowOf(letterRows, letters.get(letter) ?? unknown), state);
    const said: string[] = [];
    let token = startToken;
    while (said.length < mostPhones) {
      state = step(decoder, rowOf(phoneRows, token), state);
      token = largest(multiply(last, state, lastBias));
      if (token === endToken) break;
      said.push(phones[token] ?? '');
    }
    return said.filter((phone) => /^[A-Z]/.test(phone));
  };
}

function rowOf({ columns, values }: Matrix, row: number): Float32Array {
  return values.subarray(row * columns, (row + 1) * columns);
}

function multiply({ rows, columns, values }: Matrix, vector: Float32Array, bias: Float32Array): Float32Array {
  const result = new Float32Array(rows);
  for (let row = 0, at = 0; row < rows; row += 1) {
    let sum = bias[row] as number;
    for (let column = 0; column < columns; column += 1, at += 1)
      sum += (values[at] as number) * (vector[column] as number);
    result[row] = sum;
  }
  return result;
}

/** One step of a gated recurrent unit, its gates in the order reset, update, new (as PyTorch has them). */
function step(gru: Gru, input: Float32Array, state: Float32Array): Float32Array {
  const width = state.length;
  const fromInput = multiply(gru.input, input, gru.inputBias);
  const fromState = multiply(gru.hidden, state, gru.hiddenBias);
  const next = new Float32Array(width);
  for (let i = 0; i < width; i += 1) {
    const reset = sigmoid((fromInput[i] as number) + (fromState[i] as number));
    const update = sigmoid((fromInput[width + i] as number) + (fromState[width + i] as number));
    const fresh = Math.tanh(
      (fromInput[2 * width + i] as number) + reset * (fromState[2 * width + i] as number),
    );
    next[i] = (1 - update) * fresh + update * (state[i] as number);
  }
  return next;
}

function sigmoid(value: number): number {
  return 1 / (1 + Math.exp(-value));
}

function largest(values: Float32Array): number {
  let best = 0;
  for (let i = 1; i < values.length; i += 1) if ((values[i] as number) > (values[best] as number)) best = i;
  return best;
}

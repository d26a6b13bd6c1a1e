/**
 * An encoder that hears and a decoder that writes, as exporters lay them out: one file each, the decoder with a
 * branch for its first step and one for the rest, which takes what the earlier steps have calculated.
 */
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { unusable } from '../onnx/model-files.ts';

export interface SpeechSessions {
  readonly encoder: InferenceSession;
  readonly decoder: InferenceSession;
}

export async function loadSessions(
  name: string,
  { encoder, decoder }: Readonly<Record<string, string>>,
  threads: number,
): Promise<SpeechSessions> {
  if (encoder === undefined || decoder === undefined) throw unusable(name, 'it has no encoder or no decoder');
  const options: InferenceSession.SessionOptions = {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  };
  return {
    encoder: await InferenceSession.create(encoder, options),
    decoder: await InferenceSession.create(decoder, options),
  };
}

type Tensors = Record<string, Tensor>;

const pastPrefix = 'past_key_values.';

/** One reading of what was heard. Tokens go in, the scores of the next one come out. */
export class Decoding {
  readonly #session: InferenceSession;
  readonly #heard: Tensor;
  readonly #pastNames: readonly string[];
  /** What the decoder calculated of the sound, which stays, and of the tokens, which grows. */
  #past: Tensors;
  #isFirst = true;

  constructor(session: InferenceSession, heard: Tensor) {
    this.#session = session;
    this.#heard = heard;
    this.#pastNames = session.inputNames.filter((name) => name.startsWith(pastPrefix));
    this.#past = Object.fromEntries(this.#pastNames.map((name) => [name, this.#empty(name)]));
  }

  /** The scores behind each of the tokens, one row after the other. */
  async step(tokens: readonly number[]): Promise<Float32Array> {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    // The sound's part comes from the first step alone; later ones hand back nothing for it.
    const wanted = this.#pastNames.filter((name) => isFirst || name.includes('.decoder.'));
    const outputs = await this.#session.run(
      {
        ...this.#past,
        input_ids: new Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, tokens.length]),
        encoder_hidden_states: this.#heard,
        use_cache_branch: new Tensor('bool', [!isFirst], [1]),
      },
      ['logits', ...wanted.map(toPresent)],
    );
    for (const name of wanted) {
      this.#past[name]?.dispose();
      this.#past[name] = outputs[toPresent(name)] as Tensor;
    }
    return (outputs['logits'] as Tensor).data as Float32Array;
  }

  /** Native memory, which the garbage collector does not see. */
  dispose(): void {
    for (const tensor of Object.values(this.#past)) tensor.dispose();
    this.#past = {};
  }

  #empty(name: string): Tensor {
    const input = this.#session.inputMetadata.find((each) => each.name === name);
    const [, heads, , width] = input?.isTensor === true ? input.shape : [];
    return new Tensor('float32', new Float32Array(0), [1, Number(heads), 0, Number(width)]);
  }
}

function toPresent(name: string): string {
  return `present.${name.slice(pastPrefix.length)}`;
}

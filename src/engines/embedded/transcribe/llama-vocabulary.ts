/**
 * The vocabulary of LLaMA's tokenizer, which Moonshine writes in, read out of the source text of llama-tokenizer-js:
 * the file is data here, and is never executed. Pure.
 */

export type Decode = (tokens: readonly number[]) => string;

/** Token by token, one a line, in base64. */
const vocabularyPattern = /llama_vocab_base64\s*=\s*"([A-Za-z0-9+/=]+)"/;
/** Bytes that stand for themselves: `<0x0A>`. */
const bytePattern = /^<0x([0-9A-F]{2})>$/;
/** How a space is written inside a token. */
const space = '▁';
/** `<unk>`, `<s>` and `</s>`. */
const marks = 3;

/** Undefined where the source holds no vocabulary. */
export function readLlamaVocabulary(source: string): Decode | undefined {
  const encoded = vocabularyPattern.exec(source)?.[1];
  if (encoded === undefined) return undefined;
  const tokens = Buffer.from(encoded, 'base64').toString('utf8').split('\n');
  return (ids) => {
    const pieces = ids
      .filter((id) => id >= marks && id < tokens.length)
      .map((id) => {
        const token = tokens[id] ?? '';
        const byte = bytePattern.exec(token)?.[1];
        return byte === undefined
          ? Buffer.from(token.replaceAll(space, ' '), 'utf8')
          : Buffer.from(byte, 'hex');
      });
    return Buffer.concat(pieces).toString('utf8');
  };
}

/**
 * Text to the token ids of one model, by its tokenizer.json. The library reads neither `truncation` nor `padding`
 * of that file, which is welcome: all-MiniLM's asks for 128 tokens where the model reads 512.
 */
import { Tokenizer } from '@huggingface/tokenizers';

export interface TextTokenizer {
  /** What the model wants around every input, such as [CLS] and [SEP]. */
  readonly before: readonly number[];
  readonly after: readonly number[];
  readonly vocabularySize: number;
  /** The first `limit` tokens without marks, and whether there were more. */
  encode(text: string, limit: number): { ids: number[]; hasMore: boolean };
  /** Tokens without marks; `limit + 1` where there are more, or so many characters that nobody reads them. */
  count(text: string, limit: number): number;
  /** Marks around ids; where a caller has put them there already they are not doubled. */
  wrap(ids: readonly number[], limit: number): number[];
}

/** English has four to five characters a token; a first bite of this many a token is nearly always enough. */
const charactersPerToken = 8;
const smallestBite = 512;
/** No text has so many a token, unless it is made of spaces: what lies behind is not looked at. */
const mostCharactersPerToken = 32;

export function createTextTokenizer(tokenizerJson: object, tokenizerConfig: object): TextTokenizer {
  const tokenizer = new Tokenizer(tokenizerJson, tokenizerConfig);
  const bare = (text: string) => tokenizer.encode(text, { add_special_tokens: false }).ids;
  const { before, after } = findMarks(bare('a'), tokenizer.encode('a').ids);
  let vocabularySize = 0;
  // Not Math.max(...): a multilingual vocabulary has more values than a call may have arguments.
  for (const id of tokenizer.get_vocab(true).values()) vocabularySize = Math.max(vocabularySize, id + 1);

  const encode: TextTokenizer['encode'] = (text, limit) => {
    // Tokenizing runs at under 1 MB/s, so of a long text only as much is read as fills the limit.
    let bite = Math.max(smallestBite, limit * charactersPerToken);
    while (bite < text.length) {
      const ids = bare(text.slice(0, wordBoundary(text, bite)));
      const isFull = ids.length > limit;
      if (isFull || bite > limit * mostCharactersPerToken) return { ids: ids.slice(0, limit), hasMore: true };
      bite *= 4;
    }
    const ids = bare(text);
    return { ids: ids.slice(0, limit), hasMore: ids.length > limit };
  };

  return {
    before,
    after,
    vocabularySize,
    encode,
    count(text, limit) {
      if (text.length > Math.max(smallestBite, limit * mostCharactersPerToken)) return limit + 1;
      const { ids, hasMore } = encode(text, limit);
      return hasMore ? limit + 1 : ids.length;
    },
    wrap(ids, limit) {
      const inner = isWrapped(ids, before, after) ? ids.slice(before.length, ids.length - after.length) : ids;
      const room = Math.max(0, limit - before.length - after.length);
      return [...before, ...inner.slice(0, room), ...after];
    },
  };
}

/** The marks are what stands around the tokens of a text when it is encoded with them. */
function findMarks(
  bare: readonly number[],
  marked: readonly number[],
): { before: number[]; after: number[] } {
  const start = marked.findIndex((_, index) => bare.every((id, i) => marked[index + i] === id));
  return { before: marked.slice(0, start), after: marked.slice(start + bare.length) };
}

function isWrapped(ids: readonly number[], before: readonly number[], after: readonly number[]): boolean {
  const marks = before.length + after.length;
  return (
    marks > 0 &&
    ids.length >= marks &&
    before.every((id, i) => ids[i] === id) &&
    after.every((id, i) => ids[ids.length - after.length + i] === id)
  );
}

/** The last space before `end`, so that no word is cut in two; `end` itself where there is none near. */
function wordBoundary(text: string, end: number): number {
  const searched = 256;
  for (let i = end; i > Math.max(0, end - searched); i -= 1) {
    if (/\s/u.test(text[i] as string)) return i;
  }
  return end;
}

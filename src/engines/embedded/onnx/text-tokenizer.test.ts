import { describe, expect, it } from 'vitest';
import { createTextTokenizer } from './text-tokenizer.ts';

const words = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'a', 'b', 'c', '##d'];
const special = (name: string) => ({ SpecialToken: { id: name, type_id: 0 } });

/** A WordPiece tokenizer of eight tokens that asks for truncation, as the one of all-MiniLM does. */
const create = (vocabulary: readonly string[]) =>
  createTextTokenizer(
    {
      truncation: { max_length: 3, direction: 'Right', strategy: 'LongestFirst', stride: 0 },
      added_tokens: words
        .slice(0, 4)
        .map((content, id) => ({ id, content, special: true, normalized: false })),
      normalizer: { type: 'BertNormalizer', lowercase: true },
      pre_tokenizer: { type: 'BertPreTokenizer' },
      post_processor: {
        type: 'TemplateProcessing',
        single: [special('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, special('[SEP]')],
        pair: [],
        special_tokens: {
          '[CLS]': { id: '[CLS]', ids: [2], tokens: ['[CLS]'] },
          '[SEP]': { id: '[SEP]', ids: [3], tokens: ['[SEP]'] },
        },
      },
      decoder: { type: 'WordPiece' },
      model: {
        type: 'WordPiece',
        unk_token: '[UNK]',
        continuing_subword_prefix: '##',
        vocab: Object.fromEntries(vocabulary.map((word, id) => [word, id])),
      },
    },
    {},
  );
const tokenizer = create(words);

describe('encoding', () => {
  it('finds the marks of the model by itself', () => {
    expect(tokenizer).toMatchObject({ before: [2], after: [3], vocabularySize: 8 });
  });

  it('knows a vocabulary as large as those of multilingual models', () => {
    const many = Array.from({ length: 250_002 - words.length }, (_, i) => `t${i}`);
    expect(create([...words, ...many]).vocabularySize).toBe(250_002);
  });

  it('goes by the given limit and not by the truncation of the file', () => {
    expect(tokenizer.encode('a b c ad a', 10)).toEqual({ ids: [4, 5, 6, 4, 7, 4], hasMore: false });
    expect(tokenizer.encode('a b c ad a', 5)).toEqual({ ids: [4, 5, 6, 4, 7], hasMore: true });
  });

  it('of a long text gives the same start as of the whole, whichever word a bite ends in', () => {
    const text = 'ad b  '.repeat(2_000);
    for (const limit of [1, 64, 100, 1_000, 5_999]) {
      const { ids, hasMore } = tokenizer.encode(text, limit);
      expect(ids).toEqual(Array.from({ length: limit }, (_, i) => [4, 7, 5][i % 3]));
      expect(hasMore).toBe(true);
    }
    expect(tokenizer.encode(text, 6_000)).toMatchObject({ hasMore: false });
  });

  it('does not read spaces without end', () => {
    const { ids, hasMore } = tokenizer.encode(`a${' '.repeat(20_000_000)}b`, 16);
    expect(ids).toEqual([4]);
    expect(hasMore).toBe(true);
  });
});

describe('counting', () => {
  it('is to the token, and says only that there are more', () => {
    expect(tokenizer.count('a b c ad a', 6)).toBe(6);
    expect(tokenizer.count('a b c ad a', 5)).toBe(6);
  });

  it('takes spaces for what they are to read', () => {
    expect(tokenizer.count(`a${' '.repeat(1_000)}b`, 64)).toBe(2);
    expect(tokenizer.count(`a${' '.repeat(5_000)}b`, 64)).toBe(65);
  });
});

describe('marks', () => {
  it('stand around what is left after the cut', () => {
    expect(tokenizer.wrap([4, 5, 6], 10)).toEqual([2, 4, 5, 6, 3]);
    expect(tokenizer.wrap([4, 5, 6], 4)).toEqual([2, 4, 5, 3]);
  });

  it('that are there already are not doubled', () => {
    expect(tokenizer.wrap([2, 4, 5, 6, 3], 10)).toEqual([2, 4, 5, 6, 3]);
    expect(tokenizer.wrap([2, 4, 5, 6, 3], 4)).toEqual([2, 4, 5, 3]);
    expect(tokenizer.wrap([2, 4], 10)).toEqual([2, 2, 4, 3]);
  });
});

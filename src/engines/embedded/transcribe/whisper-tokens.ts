/** Whisper's tokens: its words, and the marks by which it is told what to do. */
import { Tokenizer } from '@huggingface/tokenizers';
import { unusable } from '../onnx/model-files.ts';

export interface WhisperTokens {
  readonly endOfText: number;
  /** Before a transcript. */
  readonly start: number;
  /** Before what was said earlier. */
  readonly startOfPrevious: number;
  readonly transcribe: number;
  readonly noTimestamps: number;
  readonly noSpeech: number;
  /** By ISO 639-1 code. */
  readonly languages: ReadonlyMap<string, number>;
  /** Every token of a language, also of those that have no such code. */
  readonly languageTokens: ReadonlyMap<number, string | undefined>;
  /** Never part of a text: marks, timestamps, and signs that only subtitles have. */
  readonly never: readonly number[];
  /** Not as the first token: a space, or the end. */
  readonly neverFirst: readonly number[];
  encode(text: string): number[];
  decode(tokens: readonly number[]): string;
}

interface GenerationConfig {
  lang_to_id?: Record<string, number>;
  suppress_tokens?: number[];
  begin_suppress_tokens?: number[];
}

/** Whisper's names for languages that the standard calls otherwise. */
const standardNames: Readonly<Record<string, string>> = { jw: 'jv' };

export function readWhisperTokens(
  name: string,
  tokenizerJson: object,
  tokenizerConfig: object,
  generation: GenerationConfig,
): WhisperTokens {
  const tokenizer = new Tokenizer(tokenizerJson, tokenizerConfig);
  const idOf = (...contents: string[]) => {
    for (const content of contents) {
      const id = tokenizer.token_to_id(content);
      if (id !== undefined) return id;
    }
    throw unusable(name, `its tokenizer has no ${contents[0]}`);
  };
  const languageTokens = new Map<number, string | undefined>();
  const languages = new Map<string, number>();
  for (const [mark, id] of Object.entries(generation.lang_to_id ?? {})) {
    const own = mark.slice(2, -2);
    const code = standardNames[own] ?? (own.length === 2 ? own : undefined);
    languageTokens.set(id, code);
    if (code !== undefined) languages.set(code, id);
  }
  const endOfText = idOf('<|endoftext|>');
  const noTimestamps = idOf('<|notimestamps|>');
  const last = Math.max(...tokenizer.get_vocab(true).values());
  // Everything behind the end mark is a mark or a timestamp.
  const marks = Array.from({ length: last - endOfText }, (_, i) => endOfText + 1 + i);
  return {
    endOfText,
    start: idOf('<|startoftranscript|>'),
    startOfPrevious: idOf('<|startofprev|>'),
    transcribe: idOf('<|transcribe|>'),
    noTimestamps,
    noSpeech: idOf('<|nospeech|>', '<|nocaptions|>'),
    languages,
    languageTokens,
    never: [...marks, ...(generation.suppress_tokens ?? []).filter((id) => id !== endOfText)],
    neverFirst: generation.begin_suppress_tokens ?? [endOfText],
    encode: (text) => tokenizer.encode(text, { add_special_tokens: false }).ids,
    decode: (tokens) =>
      tokenizer.decode([...tokens], { skip_special_tokens: true, clean_up_tokenization_spaces: false }),
  };
}

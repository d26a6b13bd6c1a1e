/**
 * Answers of one loaded model. The prompt is evaluated a few tokens at a time and the answer token by token, so
 * that an abort ends either soon; what the last prompt left in the model's memory is used again.
 */
import { randomInt } from 'node:crypto';
import type { Llama, LlamaContextSequence, LlamaGrammar, LlamaModel, Token } from 'node-llama-cpp';
import { GatewayError } from '../../../lib/errors.ts';
import { createAnswer } from './answer.ts';
import { createGrammar } from './grammar.ts';
import { sampleTokens } from './sampling.ts';
import { createPromptWriter, hasTools, type PromptWriter } from './template.ts';
import { createTokenReader } from './token-reader.ts';
import { findToolFormat, type ToolFormat } from './tool-format.ts';
import type { AnswerPart, ChatInput, ChatOutcome } from './types.ts';

export interface ChatModelParts {
  readonly name: string;
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly sequence: LlamaContextSequence;
  /** The most tokens of prompt and answer. */
  readonly contextTokens: number;
  /** Instead of the model's own. */
  readonly template?: string;
}

/** Of the prompt, evaluated at once: 64 would be half as fast again, and twice as long until an abort is heard. */
const stepTokens = 32;

export class ChatModel {
  readonly #parts: ChatModelParts;
  readonly #writer: PromptWriter;
  readonly #toolFormat: ToolFormat | undefined;

  constructor(parts: ChatModelParts) {
    const { model } = parts;
    const template = parts.template ?? model.fileInfo.metadata.tokenizer?.chat_template;
    this.#parts = parts;
    this.#writer = createPromptWriter({
      template,
      bos: model.tokens.bosString ?? '',
      eos: model.tokens.eosString ?? '',
    });
    this.#toolFormat = findToolFormat(template ?? '');
  }

  countTokens(input: ChatInput): number {
    return this.#toPrompt(input).tokens.length;
  }

  async answer(
    input: ChatInput,
    emit: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<ChatOutcome> {
    const { llama, sequence, contextTokens, name } = this.#parts;
    const prompt = this.#toPrompt(input);
    const room = contextTokens - prompt.tokens.length;
    if (room < 1) throw tooLong(name, prompt.tokens.length, contextTokens);
    const isToolAsked = hasTools(input);
    if (isToolAsked && this.#toolFormat === undefined) throw toolless(name);
    const isForced = input.toolChoice === 'required' || typeof input.toolChoice === 'object';
    // Before the prompt is read: a schema that is refused costs nothing more.
    const grammar = await createGrammar(llama, input, isForced ? this.#toolFormat : undefined);

    // The same tokens in other steps differ in their last bits, and with a seed every bit counts.
    if (input.seed !== undefined) await sequence.clearHistory();
    const seed = input.seed ?? randomInt(2 ** 32);
    const usage = {
      promptTokens: prompt.tokens.length,
      completionTokens: 0,
      cachedTokens: 0,
      reasoningTokens: 0,
    };
    for (let choice = 0; choice < input.n; choice++) {
      const last = await this.#evaluate(prompt.tokens, signal);
      if (choice === 0) usage.cachedTokens = last.cachedTokens;
      const answer = createAnswer({
        choice,
        emit,
        stops: input.stop,
        toolFormat: isToolAsked ? this.#toolFormat : undefined,
        isThinking: prompt.text.trimEnd().endsWith('<think>'),
        isContinued: input.continueFinal,
      });
      const limit = Math.min(room, input.maxTokens);
      await this.#write(input, grammar, last.tokens, seed + choice, limit, answer, signal);
      usage.completionTokens += answer.tokens;
      usage.reasoningTokens += answer.reasoningTokens;
    }
    return usage;
  }

  /** All but the last step, and what is left of it: generation begins with that. */
  async #evaluate(
    tokens: readonly Token[],
    signal: AbortSignal,
  ): Promise<{ tokens: Token[]; cachedTokens: number }> {
    const { sequence } = this.#parts;
    await sequence.adaptStateToTokens(tokens.slice(0, -1), false);
    const cachedTokens = sequence.nextTokenIndex;
    for (;;) {
      signal.throwIfAborted();
      const left = tokens.slice(sequence.nextTokenIndex);
      if (left.length <= stepTokens) return { tokens: left, cachedTokens };
      await sequence.evaluateWithoutGeneratingNewTokens(left.slice(0, stepTokens));
    }
  }

  async #write(
    input: ChatInput,
    grammar: LlamaGrammar | undefined,
    first: Token[],
    seed: number,
    limit: number,
    answer: ReturnType<typeof createAnswer>,
    signal: AbortSignal,
  ): Promise<void> {
    const { model, sequence } = this.#parts;
    const reader = createTokenReader({
      model,
      // Models mark their thoughts and calls with tokens that are no text otherwise.
      hasMarks: this.#toolFormat !== undefined && hasTools(input),
      topLogprobs: input.topLogprobs,
      before: input.continueFinal ? first : [],
    });
    for await (const sampled of sampleTokens({ input, sequence, model, first, seed, grammar })) {
      signal.throwIfAborted();
      const piece = reader.read(sampled);
      answer.add(piece);
      if (answer.isStopped || answer.tokens >= limit) break;
    }
    signal.throwIfAborted();
    answer.end(reader.rest(), limit);
  }

  #toPrompt(input: ChatInput): { text: string; tokens: Token[] } {
    const { model } = this.#parts;
    const text = this.#writer.write(input);
    const { bos, bosString, shouldPrependBosToken } = model.tokens;
    const tokens = model.tokenize(text, true);
    const hasBos = bosString !== null && text.startsWith(bosString);
    if (bos !== null && shouldPrependBosToken && !hasBos) tokens.unshift(bos);
    return { text, tokens };
  }
}

function tooLong(name: string, tokens: number, limit: number): GatewayError {
  const message = `The prompt has ${tokens} tokens, and ${name} reads at most ${limit} with the answer`;
  return new GatewayError('invalid_request', message, { param: 'messages' });
}

function toolless(name: string): GatewayError {
  return new GatewayError('invalid_request', `The model ${name} was not made to call tools`, {
    param: 'tools',
  });
}

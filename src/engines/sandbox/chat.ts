/**
 * The sandbox's chat port. An answer is delivered token by token at the pace of the model's script; without a
 * script in batches, with a breath between them so that a long answer does not hold up anybody else.
 */
import { GatewayError } from '../../lib/errors.ts';
import type { ChatPort, ChatRequest, ChatRun, ChatSink, Finish, Usage } from '../contract/chat.ts';
import { toJsonBytes } from '../contract/json-bytes.ts';
import { type AnswerPart, composeAnswer } from './chat-answer.ts';
import { type AnswerListener, collectAnswer } from './chat-collect.ts';
import { toChatSeed } from './chat-seed.ts';
import { countPromptTokens } from './chat-tokens.ts';
import { createPromptCache, type PromptCache } from './prompt-cache.ts';
import { type Script, type ScriptOptions, systemTimers, type Timers } from './script.ts';
import { createScripts } from './scripts.ts';

/** So many parts, or so long, before others get their turn. */
const batchParts = 64;
const batchMs = 3;

export function createSandboxChat(timers: Timers = systemTimers): ChatPort {
  const cache = createPromptCache();
  const scriptOf = createScripts(timers);
  const start = (request: ChatRequest, listener: AnswerListener): ChatRun => {
    const run = new AnswerRun(request, listener);
    void run.play(scriptOf(request), cache);
    return run;
  };
  return {
    stream: (request, sink) => start(request, toListener(sink)),
    complete: (request, done) => start(request, collectAnswer(request.n, done)),
    async countTokens(request, signal) {
      signal.throwIfAborted();
      return countPromptTokens(request, signal);
    },
  };
}

class AnswerRun implements ChatRun {
  readonly #request: ChatRequest;
  readonly #listener: AnswerListener;
  readonly #aborter = new AbortController();
  #isPaused = false;
  #wake: (() => void) | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #tokens = 0;
  #reasoningTokens = 0;
  #gathered = 0;
  #batchStartedAt = 0;

  constructor(request: ChatRequest, listener: AnswerListener) {
    this.#request = request;
    this.#listener = listener;
  }

  abort(): void {
    clearImmediate(this.#immediate);
    this.#aborter.abort();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#wake?.();
  }

  async play(script: Script, cache: PromptCache): Promise<void> {
    const { signal } = this.#aborter;
    let usage: Usage;
    try {
      usage = await this.#deliver(script, cache);
    } catch (error) {
      if (!signal.aborted) this.#listener.fail(toFailure(error));
      return;
    }
    if (!signal.aborted) this.#listener.end(usage);
  }

  async #deliver(script: Script, cache: PromptCache): Promise<Usage> {
    const request = this.#request;
    const { signal } = this.#aborter;
    const pace = await script.begin(toChatSeed(request, 0), signal);
    const prompt = cache.count(request);
    const { filterAfterTokens } = (request.script ?? {}) as ScriptOptions;
    const answers = Array.from({ length: request.n }, (_, choice) =>
      composeAnswer(request, choice, filterAfterTokens),
    );
    const isOpen = answers.map(() => true);
    this.#batchStartedAt = performance.now();
    // The answers take turns, as in an engine that makes them side by side.
    while (isOpen.includes(true)) {
      for (const [choice, answer] of answers.entries()) {
        if (isOpen[choice] !== true) continue;
        const { value, done } = answer.next();
        const due = done === true ? undefined : pace.token(this.#tokens);
        if (due !== undefined) {
          this.#flush();
          await due;
        }
        if (this.#isPaused) await this.#resumed();
        signal.throwIfAborted();
        if (done === true) {
          isOpen[choice] = false;
          this.#listener.finish(choice, value);
        } else this.#push(choice, value);
        if (this.#isBatchFull()) await this.#breathe();
      }
    }
    this.#flush();
    if (this.#isPaused) await this.#resumed();
    return {
      ...prompt,
      completionTokens: this.#tokens,
      reasoningTokens: this.#reasoningTokens,
    };
  }

  #push(choice: number, part: AnswerPart): void {
    this.#tokens += 1;
    this.#gathered += 1;
    if (part.type === 'reasoning') this.#reasoningTokens += 1;
    this.#listener.part(choice, part);
  }

  #isBatchFull(): boolean {
    return this.#gathered >= batchParts || performance.now() - this.#batchStartedAt > batchMs;
  }

  #flush(): void {
    if (this.#gathered > 0 && !this.#aborter.signal.aborted) this.#listener.flush();
    this.#gathered = 0;
  }

  async #breathe(): Promise<void> {
    this.#flush();
    if (this.#aborter.signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#immediate = setImmediate(resolve);
    });
    this.#batchStartedAt = performance.now();
  }

  async #resumed(): Promise<void> {
    this.#flush();
    while (this.#isPaused) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

function toListener(sink: ChatSink): AnswerListener {
  return {
    part(choice, part) {
      const piece = toJsonBytes(part.piece);
      if (part.type === 'text') sink.text(choice, piece, part.logprobs);
      else if (part.type === 'reasoning') sink.reasoning(choice, piece);
      else sink.tool(choice, part.index, part.id, part.name, piece);
    },
    finish: (choice: number, finish: Finish) => sink.finish(choice, finish),
    flush: () => sink.flush(),
    end(usage) {
      sink.usage(usage);
      sink.end();
    },
    fail: (error) => sink.fail(error),
  };
}

function toFailure(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError('internal', 'The sandbox engine failed', { cause: error });
}

/** Chat by a model of the llama process. */
import { GatewayError } from '../../lib/errors.ts';
import {
  type ChatPort,
  type ChatRequest,
  type ChatRun,
  type ChatSink,
  noUsage,
  type Usage,
} from '../contract/chat.ts';
import { toJsonBytes } from '../contract/json-bytes.ts';
import { type AnswerListener, collectAnswer } from './collect.ts';
import type { ModelFiles, ModelHost, Task, TaskRun } from './host/types.ts';
import type { AnswerPart, ChatInput, ChatOutcome } from './llama/types.ts';

export interface ChatPortParts {
  readonly host: ModelHost;
  /** The files of the model that a request names. */
  resolve(model: string): Promise<ModelFiles>;
  /** The most tokens of prompt and answer, for models that do not say otherwise. */
  readonly contextTokens: number;
}

export function createChatPort({ host, resolve, contextTokens }: ChatPortParts): ChatPort {
  const start = (request: ChatRequest, listener: AnswerListener): ChatRun => {
    const run = new AnswerRun(listener);
    resolve(request.model).then(
      (model) => {
        const limit = toContextTokens(model, contextTokens);
        const characters = countCharacters(request);
        if (characters > limit * mostCharactersPerToken) run.fail(tooLong(model.name, characters, limit));
        else run.start(host, { model, kind: 'chat', input: toInput(request) }, request.n);
      },
      (error: unknown) => run.fail(error),
    );
    return run;
  };
  return {
    stream: (request, sink) => start(request, toListener(sink)),
    complete: (request, done) => start(request, collectAnswer(request.n, done)),
    async countTokens(request, signal) {
      const model = await resolve(request.model);
      const characters = countCharacters(request);
      const limit = toContextTokens(model, contextTokens);
      if (characters > limit * mostCharactersPerToken) return estimateTokens(characters);
      return host.run<number>({ model, kind: 'count', input: toInput(request) }, signal);
    },
  };
}

/**
 * Prose has four or five. What has more than this for every token of the context does not fit, and is not handed
 * over: tokenizing runs at 1 MB/s, and nothing else runs in the process meanwhile.
 */
const mostCharactersPerToken = 16;
const usualCharactersPerToken = 4;

function toContextTokens({ options }: ModelFiles, otherwise: number): number {
  return typeof options['contextTokens'] === 'number' ? options['contextTokens'] : otherwise;
}

function estimateTokens(characters: number): number {
  return Math.ceil(characters / usualCharactersPerToken);
}

/** Of the text in the prompt. */
function countCharacters({ messages, tools }: ChatRequest): number {
  let characters = tools === undefined ? 0 : JSON.stringify(tools).length;
  for (const message of messages) {
    const { content } = message;
    if (typeof content === 'string') characters += content.length;
    else for (const part of content ?? []) characters += part.type === 'text' ? part.text.length : 0;
    if (message.role !== 'assistant') continue;
    characters += message.reasoning?.length ?? 0;
    for (const call of message.toolCalls ?? []) characters += call.arguments.length;
  }
  return characters;
}

function tooLong(name: string, characters: number, limit: number): GatewayError {
  const message = `The prompt has about ${estimateTokens(characters)} tokens, and ${name} reads at most ${limit} with the answer`;
  return new GatewayError('invalid_request', message, { param: 'messages' });
}

function toInput({ model: _, script: __, ...input }: ChatRequest): ChatInput {
  return input;
}

/**
 * What the model says goes through a list: a slow reader lets it grow, up to one answer, which the model's
 * context bounds, and parts that come together are flushed together.
 */
class AnswerRun implements ChatRun {
  readonly #listener: AnswerListener;
  readonly #parts: AnswerPart[] = [];
  /** What is said after the parts: the end, or a failure. */
  #last: (() => void) | undefined;
  #task: TaskRun | undefined;
  #isPaused = false;
  #isOver = false;
  #delivery: NodeJS.Immediate | undefined;

  constructor(listener: AnswerListener) {
    this.#listener = listener;
  }

  /** Every answer is a task of its own, so that other requests get their turn between two. */
  start(
    host: ModelHost,
    task: Task & { readonly input: ChatInput },
    n: number,
    choice = 0,
    before: Usage = noUsage,
  ): void {
    if (this.#isOver) return;
    const { seed } = task.input;
    const input: ChatInput = { ...task.input, n: 1, ...(seed === undefined ? {} : { seed: seed + choice }) };
    this.#task = host.start(
      { ...task, input, isContinued: choice > 0 },
      {
        part: (part) => {
          this.#parts.push(choice === 0 ? (part as AnswerPart) : { ...(part as AnswerPart), choice });
          this.#schedule();
        },
        done: (outcome) => {
          const usage = choice === 0 ? (outcome as ChatOutcome) : addAnswer(before, outcome as ChatOutcome);
          if (choice + 1 < n) {
            this.start(host, task, n, choice + 1, usage);
            return;
          }
          this.#last = () => this.#listener.end(usage);
          this.#schedule();
        },
        fail: (error) => this.fail(error),
      },
    );
  }

  fail(thrown: unknown): void {
    const error =
      thrown instanceof GatewayError
        ? thrown
        : new GatewayError('internal', 'The embedded engine failed', { cause: thrown });
    this.#last = () => this.#listener.fail(error);
    this.#schedule();
  }

  abort(): void {
    this.#isOver = true;
    clearImmediate(this.#delivery);
    this.#task?.abort();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#schedule();
  }

  /** Once per turn of the event loop: what one read of the process brought has gathered by then. */
  #schedule(): void {
    if (this.#isOver || this.#isPaused) return;
    this.#delivery ??= setImmediate(() => this.#deliver());
  }

  #deliver(): void {
    this.#delivery = undefined;
    let isHeard = false;
    // Whoever hears a part may pause or abort.
    while (!this.#isPaused && !this.#isOver) {
      const part = this.#parts.shift();
      if (part === undefined) break;
      isHeard = true;
      this.#listener.part(part);
    }
    if (this.#isOver) return;
    if (isHeard) this.#listener.flush();
    if (this.#isPaused || this.#isOver || this.#last === undefined) return;
    this.#isOver = true;
    this.#last();
  }
}

/** The prompt counts once. */
function addAnswer(before: Usage, { completionTokens, reasoningTokens }: Usage): Usage {
  return {
    ...before,
    completionTokens: before.completionTokens + completionTokens,
    reasoningTokens: before.reasoningTokens + reasoningTokens,
  };
}

function toListener(sink: ChatSink): AnswerListener {
  return {
    part(part) {
      if (part.type === 'finish') sink.finish(part.choice, part.finish);
      else {
        const piece = toJsonBytes(part.text);
        if (part.type === 'text') sink.text(part.choice, piece, part.logprobs);
        else if (part.type === 'reasoning') sink.reasoning(part.choice, piece);
        else sink.tool(part.choice, part.index, part.call?.id, part.call?.name, piece);
      }
    },
    flush: () => sink.flush(),
    end(usage) {
      sink.usage(usage);
      sink.end();
    },
    fail: (error) => sink.fail(error),
  };
}

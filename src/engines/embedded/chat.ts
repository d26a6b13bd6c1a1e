/** Chat by a model of the llama process. */
import { GatewayError } from '../../lib/errors.ts';
import type { ChatPort, ChatRequest, ChatRun, ChatSink } from '../contract/chat.ts';
import { toJsonBytes } from '../contract/json-bytes.ts';
import { type AnswerListener, collectAnswer } from './collect.ts';
import type { ModelFiles, ModelHost, Task, TaskRun } from './host/types.ts';
import type { AnswerPart, ChatInput, ChatOutcome } from './llama/types.ts';

export interface ChatPortParts {
  readonly host: ModelHost;
  /** The files of the model that a request names. */
  resolve(model: string): Promise<ModelFiles>;
}

export function createChatPort({ host, resolve }: ChatPortParts): ChatPort {
  const start = (request: ChatRequest, listener: AnswerListener): ChatRun => {
    const run = new AnswerRun(listener);
    resolve(request.model).then(
      (model) => run.start(host, { model, kind: 'chat', input: toInput(request) }),
      (error: unknown) => run.fail(error),
    );
    return run;
  };
  return {
    stream: (request, sink) => start(request, toListener(sink)),
    complete: (request, done) => start(request, collectAnswer(request.n, done)),
    async countTokens(request, signal) {
      const model = await resolve(request.model);
      return host.run<number>({ model, kind: 'count', input: toInput(request) }, signal);
    },
  };
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

  start(host: ModelHost, task: Task): void {
    if (this.#isOver) return;
    this.#task = host.start(task, {
      part: (part) => {
        this.#parts.push(part as AnswerPart);
        this.#schedule();
      },
      done: (usage) => {
        this.#last = () => this.#listener.end(usage as ChatOutcome);
        this.#schedule();
      },
      fail: (error) => this.fail(error),
    });
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

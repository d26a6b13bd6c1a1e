/** Models in the GGUF format on llama.cpp. Loaded by the model process alone: nothing of this reaches the gateway. */
import {
  getLlama,
  InsufficientMemoryError,
  type Llama,
  LlamaLogLevel,
  type LlamaModel,
} from 'node-llama-cpp';
import { GatewayError } from '../../../lib/errors.ts';
import type { LoadedModel, ModelFiles, Runtime } from '../host/types.ts';
import { ChatModel } from './chat-model.ts';
import type { ChatInput, LlamaOptions } from './types.ts';

export function createLlamaRuntime(options: Readonly<Record<string, unknown>>): Runtime {
  const { threads, contextTokens } = options as unknown as LlamaOptions;
  let starting: Promise<Llama> | undefined;
  const start = () => {
    // Never compiled here, and no graphics card is looked for.
    starting ??= getLlama({ build: 'never', gpu: false, maxThreads: threads, logLevel: LlamaLogLevel.error });
    return starting;
  };

  async function loadChat(llama: Llama, model: LlamaModel, files: ModelFiles): Promise<LoadedModel> {
    const contextSize = Math.min(
      model.trainContextSize,
      toCount(files.options['contextTokens'], contextTokens),
    );
    const context = await model.createContext({ contextSize, threads, sequences: 1 });
    const { template } = files.options;
    const chat = new ChatModel({
      name: files.name,
      llama,
      model,
      sequence: context.getSequence(),
      // A little more is allotted than was asked for; the model was not trained for it.
      contextTokens: Math.min(context.contextSize, contextSize),
      ...(typeof template === 'string' ? { template } : {}),
    });
    return {
      concurrency: 1,
      quick: ['count'],
      async run({ kind, input }, emit, signal) {
        if (kind === 'count') return chat.countTokens(input as ChatInput);
        return chat.answer(input as ChatInput, emit, signal);
      },
      dispose: () => model.dispose(),
    };
  }

  return {
    async load(files) {
      const { model: modelPath } = files.files;
      if (modelPath === undefined) throw new Error(`${files.name} has no file of the role model`);
      const llama = await start();
      let model: LlamaModel | undefined;
      try {
        model = await llama.loadModel({ modelPath });
        return await loadChat(llama, model, files);
      } catch (error) {
        await model?.dispose();
        if (error instanceof InsufficientMemoryError) throw tooLarge(files.name, error);
        throw error;
      }
    },
  };
}

function toCount(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function tooLarge(name: string, cause: unknown): GatewayError {
  return new GatewayError('internal', `There is not enough memory on this machine for the model ${name}`, {
    permanent: true,
    cause,
  });
}

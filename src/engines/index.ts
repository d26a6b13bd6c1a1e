/** The kinds of engine that a configuration can name, one line each. */
import type { EngineKind } from './contract/engine.ts';
import { embedded } from './embedded/index.ts';
import { openaiCompatible } from './openai-compatible/index.ts';
import { sandbox } from './sandbox/index.ts';

export const engineKinds: readonly EngineKind[] = [sandbox, embedded, openaiCompatible];

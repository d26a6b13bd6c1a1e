/**
 * Decisions by an embedding model of the onnx process, which holds what it has made of questions that come again.
 * What it can tell apart, and what not, is measured in `docs/decisions/0015-embedded-decisions.md`.
 */
import type { DecisionPort, DecisionResult } from '../contract/decision.ts';
import type { TextPortParts } from './embedding.ts';
import type { DecideInput } from './onnx/types.ts';

/** Many times what the largest request takes on a machine that has time for it. */
const deadlineMs = 120_000;

export function createDecisionPort({ host, resolve }: TextPortParts): DecisionPort {
  return {
    async decide({ model, state, questions, maxTokens }, signal) {
      const input: DecideInput = { state, questions, maxTokens };
      const files = await resolve(model);
      return host.run<DecisionResult>({ model: files, kind: 'decide', input, deadlineMs }, signal);
    },
  };
}

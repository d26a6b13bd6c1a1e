/** The decision port: questions about a state, answered by how likely each allowed answer is. No text is made. */
import { GatewayError } from '../../lib/errors.ts';

export interface DecisionOption {
  /** What the answer is called: `yes`, an option's name, a level's label. */
  readonly label: string;
  readonly description?: string;
}

export interface DecisionQuestion {
  /** `noul` is yes or no, and its options are those two in this order; the levels of a `score` are in theirs. */
  readonly type: 'noul' | 'choice' | 'score';
  readonly instructions: string;
  readonly options: readonly DecisionOption[];
}

export interface DecisionRequest {
  /** What the engine calls the model. */
  readonly model: string;
  /** What is decided about, as text; structured data as JSON. */
  readonly state: string;
  readonly questions: readonly DecisionQuestion[];
  /** The most tokens of one question's whole prompt. A longer one is refused: nothing is cut. */
  readonly maxTokens: number;
  /** The model's `script` as it stands in the catalogue, for kinds whose behaviour can be scripted. */
  readonly script?: Readonly<Record<string, unknown>>;
}

export interface DecisionResult {
  /** For each question, for each of its options: the probability. Each question's add up to 1. */
  readonly probabilities: readonly (readonly number[])[];
  /** The whole prompt (state, question, options) of every question. */
  readonly promptTokens: number;
}

export interface DecisionPort {
  /** The same request always has the same answer. Rejects with `invalid_request` when a prompt is too long. */
  decide(request: DecisionRequest, signal: AbortSignal): Promise<DecisionResult>;
}

/** What a port rejects with when the prompt of the question at this place is too long. */
export function promptTooLong(question: number, maxTokens: number): GatewayError {
  const message = `The prompt of question ${question + 1} (state, question and options) is longer than the model's maximum of ${maxTokens} tokens`;
  return new GatewayError('invalid_request', message, { param: 'state' });
}

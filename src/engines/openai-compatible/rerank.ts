/** The rerank port: scores of documents for a query, from whichever route the engine has for them. */
import { GatewayError } from '../../lib/errors.ts';
import type { RerankPort, RerankRequest, RerankResult } from '../contract/rerank.ts';
import { type Batch, runSome, toBatches } from './batches.ts';
import { EngineRefusal, failures } from './failures.ts';
import { askFitting, cutText } from './fit.ts';
import type { RerankQuirks } from './flavor.ts';
import type { Answer, Questions } from './questions.ts';
import { estimateTextTokens } from './tokens.ts';
import { toUsage, type WireUsage } from './wire.ts';

export interface RerankParts {
  questions: Questions;
  quirks: RerankQuirks;
  maxBatch: number;
}

interface Pairs {
  readonly query: string;
  readonly documents: readonly string[];
}

export function createRerankPort({ questions, quirks, maxBatch }: RerankParts): RerankPort {
  /** As the server's rerank route answers; by its score route when it has none. */
  async function ask(model: string, pairs: Pairs, maxTokens: number, signal: AbortSignal) {
    const { query, documents } = pairs;
    const read = (answer: Answer) => readScores(answer, pairs, maxTokens);
    const { route, scoreRoute, fields } = quirks;
    const body = { model, query, [quirks.documents]: documents, ...fields };
    try {
      return await questions.post(route, body, read, signal);
    } catch (error) {
      if (scoreRoute === undefined || !isMissing(error)) throw error;
      const pairBody = { model, text_1: query, text_2: documents, ...fields };
      return await questions.post(scoreRoute, pairBody, read, signal);
    }
  }

  async function rankBatch(
    { items }: Batch<string>,
    { model, query, maxTokens }: RerankRequest,
    signal: AbortSignal,
  ): Promise<RerankResult> {
    let sent: Pairs | undefined;
    const cut = (maxBytes: number) => {
      const shorter = cutPairs(sent ?? { query, documents: items }, maxBytes);
      if (sent !== undefined && isSame(shorter, sent)) return undefined;
      sent = shorter;
      return shorter;
    };
    return askFitting(maxTokens, cut, (pairs) => ask(model, pairs, maxTokens, signal));
  }

  return {
    async rerank(request, signal) {
      signal.throwIfAborted();
      const results = await runSome(
        toBatches(request.documents, maxBatch),
        quirks.parallel,
        (batch, either) => rankBatch(batch, request, either),
        signal,
      );
      return {
        scores: toShares(results.flatMap(({ scores }) => scores)),
        promptTokens: results.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
      };
    },
  };
}

/** A 404 can also mean the model: then the other route says so too. */
function isMissing(error: unknown): boolean {
  return error instanceof GatewayError && error.cause instanceof EngineRefusal && error.cause.status === 404;
}

/** A query and a document share the model's tokens; a query has no more than half of them. */
function cutPairs({ query, documents }: Pairs, maxBytes: number): Pairs {
  const shortQuery = cutText(query, Math.ceil(maxBytes / 2));
  const left = Math.max(1, maxBytes - Buffer.byteLength(shortQuery));
  return { query: shortQuery, documents: documents.map((document) => cutText(document, left)) };
}

function isSame(one: Pairs, other: Pairs): boolean {
  return one.query === other.query && one.documents.every((text, index) => text === other.documents[index]);
}

interface WireScore {
  index?: unknown;
  /** Cohere, Jina, vLLM and llama.cpp. */
  relevance_score?: unknown;
  /** TEI, SGLang, and vLLM's score route. */
  score?: unknown;
  /** SGLang says there what the pair took. */
  meta_info?: { prompt_tokens?: unknown } | null;
}

interface WireRanking {
  results?: unknown;
  data?: unknown;
  /** Jina gives only the total. */
  usage?: (WireUsage & { total_tokens?: number | null }) | null;
  /** Cohere. */
  meta?: { tokens?: { input_tokens?: number | null } | null } | null;
}

/** Throws when there is not one score for each document. */
export function readScores(answer: Answer, pairs: Pairs, maxTokens: number): RerankResult {
  const ranking = answer.json as WireRanking;
  const list = [answer.json, ranking.results, ranking.data].find((value) => Array.isArray(value)) ?? [];
  const scores: number[] = [];
  let pairTokens = 0;
  for (const [place, item] of (list as (WireScore | null)[]).entries()) {
    const index = typeof item?.index === 'number' ? item.index : place;
    const score = item?.relevance_score ?? item?.score;
    if (typeof score !== 'number' || !Number.isFinite(score))
      throw failures.unreadable(new Error(`a score of ${String(score)}`));
    scores[index] = score;
    pairTokens += Number(item?.meta_info?.prompt_tokens ?? 0);
  }
  const wanted = pairs.documents.length;
  for (let i = 0; i < Math.max(wanted, scores.length); i++) {
    if (scores[i] === undefined || i >= wanted)
      throw failures.unreadable(new Error(`scores for ${wanted} documents: ${scores.length}`));
  }
  const told = [
    ranking.usage?.prompt_tokens,
    ranking.usage?.total_tokens,
    ranking.meta?.tokens?.input_tokens,
    // TEI says it in a header alone.
    Number(answer.head.get('x-compute-tokens') ?? 0),
    pairTokens,
  ];
  const [promptTokens] = told.map(toTokens).filter((tokens) => tokens > 0);
  return { scores, promptTokens: promptTokens ?? estimateTokens(pairs, maxTokens) };
}

function toTokens(tokens: number | null | undefined): number {
  return toUsage({ prompt_tokens: tokens ?? 0 }).promptTokens;
}

/** Every document is read together with the query. */
function estimateTokens({ query, documents }: Pairs, maxTokens: number): number {
  const perQuery = estimateTextTokens(query);
  let tokens = 0;
  for (const document of documents) tokens += Math.min(perQuery + estimateTextTokens(document), maxTokens);
  return tokens;
}

/**
 * From 0 to 1. Most engines answer so; llama.cpp hands over what the model gives, which for most cross-encoders
 * is the logarithm of the odds.
 */
export function toShares(scores: readonly number[]): readonly number[] {
  if (scores.every((score) => score >= 0 && score <= 1)) return scores;
  return scores.map((score) => 1 / (1 + Math.exp(-score)));
}

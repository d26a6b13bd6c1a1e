/**
 * The decision port: a chat model's first token is the answer, and its probabilities are the distribution. All
 * requests of a decision end with the first that fails.
 */
import type { Log } from '../../lib/log.ts';
import type { ChatRequest } from '../contract/chat.ts';
import {
  type DecisionPort,
  type DecisionQuestion,
  type DecisionRequest,
  promptTooLong,
} from '../contract/decision.ts';
import { runSome } from './batches.ts';
import { toBody } from './body.ts';
import { average, joinGroups, type LetterOdds, readLetters, topLogprobs, winnerOf } from './decision-odds.ts';
import { toDecisionPrompt, toGroups, toOrders } from './decision-prompt.ts';
import type { DecisionQuirks, Flavor, Place } from './flavor.ts';
import type { Questions } from './questions.ts';
import { toUsage, type WireAnswer } from './wire.ts';

export interface DecisionParts {
  questions: Questions;
  flavor: Flavor;
  quirks: DecisionQuirks;
  countTokens(request: ChatRequest, signal: AbortSignal): Promise<number>;
  log?: Log | undefined;
}

const route: Place = { at: 'api', path: '/chat/completions' };
/** What a template puts around the prompt, on the high side. */
const templateTokens = 64;
/** No text has more to a token. */
const mostBytesPerToken = 64;
/** With less of the probability on letters, the model does not do what it is asked for. */
const leastShare = 0.01;

/** One request to the engine: some options of a question, in one order. */
interface Asked {
  readonly question: number;
  readonly order: readonly number[];
}

interface Told extends Asked {
  /** By the options' places in the question; others are not there. */
  readonly logprobs: ReadonlyMap<number, number>;
  readonly promptTokens: number;
}

export function createDecisionPort(parts: DecisionParts): DecisionPort {
  const { questions, flavor, quirks, countTokens, log } = parts;
  const warned = new Set<string>();

  function toChatRequest(
    { model, state }: DecisionRequest,
    question: DecisionQuestion,
    order: readonly number[],
  ) {
    const options = order.map((place) => question.options[place]!);
    const isRising = order[0]! <= order.at(-1)!;
    const request: ChatRequest = {
      model,
      // A system message would be refused by templates that know no such role.
      messages: [{ role: 'user', content: toDecisionPrompt(state, question, options, isRising) }],
      continueFinal: false,
      n: 1,
      maxTokens: 1,
      temperature: 0,
      topLogprobs,
      ...(quirks.stopsThinking ? { thinking: { enabled: false } } : {}),
      affinity: '',
    };
    return request;
  }

  /** The prompt with all options at once, which is what a question is measured and billed by. */
  function count(request: DecisionRequest, question: DecisionQuestion, signal: AbortSignal): Promise<number> {
    const all = question.options.map((_, place) => place);
    return countTokens(toChatRequest(request, question, all), signal);
  }

  /** Tokens where they had to be counted: a text whose bytes would fit fits. */
  async function measure(
    request: DecisionRequest,
    signal: AbortSignal,
  ): Promise<readonly (number | undefined)[]> {
    const { state, maxTokens } = request;
    const stateBytes = Buffer.byteLength(state);
    if (stateBytes > maxTokens * mostBytesPerToken) throw promptTooLong(0, maxTokens);
    return runSome(
      [...request.questions.entries()],
      quirks.parallel,
      async ([index, question], either) => {
        const around = toDecisionPrompt('', question, question.options, true);
        if (stateBytes + Buffer.byteLength(around) + templateTokens <= maxTokens) return undefined;
        const tokens = await count(request, question, either);
        if (tokens > maxTokens) throw promptTooLong(index, maxTokens);
        return tokens;
      },
      signal,
    );
  }

  async function ask(request: DecisionRequest, asked: Asked, signal: AbortSignal): Promise<Told> {
    const { question, order } = asked;
    const chat = toChatRequest(request, request.questions[question]!, order);
    const read = (answer: WireAnswer) => ({
      odds: readLetters(answer, order.length),
      usage: toUsage(answer.usage ?? {}),
    });
    const body = toBody(chat, flavor, false);
    const { odds, usage } = await questions.post(route, body, ({ json }) => read(json as WireAnswer), signal);
    if (usage.promptTokens > request.maxTokens) throw promptTooLong(question, request.maxTokens);
    warnOfStrayAnswers(request.model, odds);
    const logprobs = new Map(order.map((place, index) => [place, odds.logprobs[index]!]));
    return { ...asked, logprobs, promptTokens: usage.promptTokens };
  }

  function warnOfStrayAnswers(model: string, { share }: LetterOdds): void {
    if (share >= leastShare || warned.has(model)) return;
    warned.add(model);
    log?.warn({ model, share }, 'a model does not answer decisions with a letter: its answers mean little');
  }

  return {
    async decide(request, signal) {
      signal.throwIfAborted();
      const counted = await measure(request, signal);
      const run = (work: readonly Asked[]) =>
        runSome(work, quirks.parallel, (asked, either) => ask(request, asked, either), signal);

      const groups = request.questions.map(toGroups);
      const rounds = groups.flatMap((own, question) =>
        own.flatMap((places) => toAsked(request, question, places)),
      );
      const told = await run(rounds);
      const odds = groups.map((own, question) =>
        own.map((places) => ({ places, logprobs: averageOf(told, question, places) })),
      );

      // The final rounds, of questions that have more than one group.
      const finalists = odds.map((own) =>
        own.length === 1 ? [] : own.map(({ places, logprobs }) => places[winnerOf(logprobs)]!),
      );
      const finals = await run(finalists.flatMap((places, question) => toAsked(request, question, places)));

      const probabilities = odds.map((own, question) => {
        const places = finalists[question]!;
        return joinGroups(own, places.length === 0 ? [0] : averageOf(finals, question, places));
      });
      const tokens = await runSome(
        [...request.questions.entries()],
        quirks.parallel,
        async ([index, question], either) => {
          const whole =
            groups[index]!.length === 1 ? told.find((each) => each.question === index) : undefined;
          return whole?.promptTokens || counted[index] || (await count(request, question, either));
        },
        signal,
      );
      return { probabilities, promptTokens: tokens.reduce((sum, own) => sum + own, 0) };
    },
  };
}

function toAsked({ questions }: DecisionRequest, question: number, places: readonly number[]): Asked[] {
  if (places.length === 0) return [];
  return toOrders(questions[question]!.type, places).map((order) => ({ question, order }));
}

/** Of these options of a question, over all orders in which they were asked. */
function averageOf(told: readonly Told[], question: number, places: readonly number[]): number[] {
  if (places.length === 1) return [0];
  const [first] = places;
  const own = told.filter((each) => each.question === question && each.logprobs.has(first!));
  return average(own.map(({ logprobs }) => places.map((place) => logprobs.get(place)!)));
}

/** Decisions of a chat model behind a socket: what is asked of it, and what is made of its answers. */
import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LetterModel, letterModel, optionsOf, promptOf } from '../../../test/support/letter-model.ts';
import { answers, createMockEngine, type MockEngine } from '../../../test/support/mock-engine.ts';
import { createLog } from '../../lib/log.ts';
import type { DecisionPort, DecisionQuestion, DecisionRequest } from '../contract/decision.ts';
import type { Engine } from '../contract/engine.ts';
import { toAddress } from './address.ts';
import { readLetters } from './decision-odds.ts';
import type { FlavorName } from './flavor.ts';
import { flavors } from './flavors.ts';
import { createOpenaiCompatible } from './index.ts';

let mock: MockEngine;
const engines: Engine[] = [];
let port: DecisionPort;
const logged: string[] = [];

function start(flavor: FlavorName): void {
  const engine = createOpenaiCompatible({
    address: toAddress(mock.url),
    flavor: flavors[flavor],
    apiKey: undefined,
    headers: {},
    timeoutMs: 20_000,
    idleTimeoutMs: 20_000,
    log: createLog('info', { write: (line) => void logged.push(line) }),
  });
  engines.push(engine);
  port = engine.decision as DecisionPort;
}

beforeEach(async () => {
  logged.length = 0;
  mock = await createMockEngine();
  start('vllm');
});
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  await mock.close();
});

const urgent: DecisionQuestion = {
  type: 'noul',
  instructions: 'Is it urgent?',
  options: [{ label: 'yes' }, { label: 'no' }],
};
const choice = (labels: readonly string[]): DecisionQuestion => ({
  type: 'choice',
  instructions: 'Which one?',
  options: labels.map((label) => ({ label })),
});
const score: DecisionQuestion = {
  type: 'score',
  instructions: 'How angry?',
  options: ['calm', 'annoyed', 'angry'].map((label) => ({ label })),
};
const { signal } = new AbortController();
const request = (questions: readonly DecisionQuestion[], changes: Partial<DecisionRequest> = {}) => ({
  model: 'judge',
  state: 'The house is on fire.',
  questions,
  maxTokens: 8192,
  ...changes,
});
const decide = (questions: readonly DecisionQuestion[], changes: Partial<DecisionRequest> = {}) =>
  port.decide(request(questions, changes), signal);

/** What such a model would say without a preference for letters. */
function softmax(likings: readonly number[]): number[] {
  const sum = likings.reduce((total, liking) => total + Math.exp(liking), 0);
  return likings.map((liking) => Math.exp(liking) / sum);
}

/** A liking of its own for every line, from -2 to 2. */
const liking: LetterModel['liking'] = (line) =>
  (([...line].reduce((sum, character) => sum * 31 + character.charCodeAt(0), 7) % 401) - 200) / 100;
const biased = (letter: string) => (letter === 'A' ? 2 : letter === 'B' ? -1 : 0.5);

function expectClose(actual: readonly number[] | undefined, expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  for (const [index, value] of expected.entries()) expect(actual?.[index]).toBeCloseTo(value, 6);
}

describe('what a chat model is asked', () => {
  it('is one token with log probabilities, at temperature 0 and without thinking, once for every order', async () => {
    mock.respond(letterModel({ liking }));
    await decide([urgent]);
    expect(mock.requests).toHaveLength(2);
    for (const { body } of mock.requests)
      expect(body).toMatchObject({
        model: 'judge',
        max_tokens: 1,
        temperature: 0,
        logprobs: true,
        top_logprobs: 20,
        chat_template_kwargs: { enable_thinking: false },
      });
    const orders = mock.requests.map((asked) => [...optionsOf(promptOf({ request: asked })).values()]);
    expect(orders).toContainEqual(['yes', 'no']);
    expect(orders).toContainEqual(['no', 'yes']);
  });

  it('holds no field that a strict server could refuse, where the server is not known', async () => {
    start('generic');
    mock.respond(letterModel({ liking }));
    await decide([urgent]);
    expect(Object.keys(mock.requests[0]?.body ?? {}).toSorted()).toEqual(
      ['logprobs', 'max_tokens', 'messages', 'model', 'temperature', 'top_logprobs'].toSorted(),
    );
  });

  it('is never more at once than the engine is given, over all questions', async () => {
    let running = 0;
    let most = 0;
    const model = letterModel({ liking });
    mock.respond(async (exchange) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      await model(exchange);
    });
    await decide(Array.from({ length: 64 }, () => urgent));
    expect(mock.requests).toHaveLength(128);
    expect(most).toBeLessThanOrEqual(flavors.vllm.decision?.parallel ?? 0);
    expect(most).toBeGreaterThan(1);
  });

  it('is nothing where there is only one answer', async () => {
    mock.route('/tokenize', ({ json }) => json(200, { count: 42 }));
    const { probabilities, promptTokens } = await decide([choice(['only'])]);
    expect(probabilities).toEqual([[1]]);
    expect(promptTokens).toBe(42);
    expect(mock.requests).toHaveLength(0);
  });
});

describe('what is made of the answers', () => {
  it('[DEC-20] is a distribution per question, in the order of its options', async () => {
    mock.respond(letterModel({ liking }));
    const { probabilities } = await decide([urgent, choice(['b', 'a', 'c']), score]);
    expectClose(probabilities[0], softmax(['yes', 'no'].map((line) => liking(line, ''))));
    expectClose(probabilities[1], softmax(['b', 'a', 'c'].map((line) => liking(line, ''))));
    expectClose(probabilities[2], softmax(['calm', 'annoyed', 'angry'].map((line) => liking(line, ''))));
  });

  it.each([2, 3, 4])('is free of what the model likes of letters, with %i options', async (count) => {
    mock.respond(letterModel({ liking, preference: biased }));
    const labels = ['red', 'green', 'blue', 'yellow'].slice(0, count);
    const { probabilities } = await decide([choice(labels)]);
    expectClose(probabilities[0], softmax(labels.map((line) => liking(line, ''))));
  });

  it('does not depend on the order in which the options came, also with more than one round', async () => {
    mock.respond(letterModel({ liking, preference: biased }));
    await fc.assert(
      fc.asyncProperty(
        fc
          .uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 2, maxLength: 20 })
          .chain((labels) =>
            fc.tuple(
              fc.constant(labels),
              fc.shuffledSubarray(labels, { minLength: labels.length, maxLength: labels.length }),
            ),
          ),
        async ([labels, shuffled]) => {
          const [plain] = (await decide([choice(labels)])).probabilities;
          const [moved] = (await decide([choice(shuffled)])).probabilities;
          expectClose(
            moved,
            shuffled.map((label) => plain?.[labels.indexOf(label)] ?? -1),
          );
        },
      ),
      { numRuns: 20 },
    );
  });

  it('is the same for the same request', async () => {
    mock.respond(letterModel({ liking, preference: biased }));
    const labels = Array.from({ length: 30 }, (_, index) => `option ${index}`);
    expect(await decide([choice(labels), score])).toEqual(await decide([choice(labels), score]));
  });

  it('[DEC-13] reaches to 255 options, by groups whose winners are asked against each other', async () => {
    mock.respond(letterModel({ liking }));
    mock.route('/tokenize', ({ json }) => json(200, { count: 3000 }));
    const labels = Array.from({ length: 255 }, (_, index) => `option number ${index * 7919}`);
    const { probabilities, promptTokens } = await decide([choice(labels)]);
    expectClose(probabilities[0], softmax(labels.map((line) => liking(line, ''))));
    expect(probabilities[0]?.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 12);
    expect(mock.requests).toHaveLength(2 * (16 + 1));
    for (const asked of mock.requests)
      expect(optionsOf(promptOf({ request: asked })).size).toBeLessThanOrEqual(16);
    // Billed as one prompt with all of the options, however it was asked.
    expect(promptTokens).toBe(3000);
  });

  it('holds with little told: what is missing has little, and nothing is impossible', async () => {
    const strong: LetterModel['liking'] = (line) => (line === 'yes' ? 12 : 0);
    mock.respond(letterModel({ liking: strong, tells: 1 }));
    const [odds] = (await decide([urgent])).probabilities;
    expect(odds?.[0]).toBeGreaterThan(0.9999);
    expect(odds?.[1]).toBeGreaterThan(0);
  });

  it('reads letters with a space before them, among other words', async () => {
    mock.respond(letterModel({ liking, write: (letter) => ` ${letter}`, others: { The: 0.3, I: 0.1 } }));
    const { probabilities } = await decide([score]);
    expectClose(probabilities[0], softmax(['calm', 'annoyed', 'angry'].map((line) => liking(line, ''))));
    expect(logged).toEqual([]);
  });

  it('is even when the model answers something else, and the log says so once', async () => {
    mock.respond(letterModel({ liking, others: { '<think>': 0.999_999 }, tells: 1 }));
    expectClose((await decide([urgent])).probabilities[0], [0.5, 0.5]);
    await decide([urgent]);
    expect(logged.filter((line) => line.includes('does not answer decisions'))).toHaveLength(1);
  });
});

describe('the length of a prompt', () => {
  it('[BILL-25] is what the engine says of one order, for every question', async () => {
    mock.respond(letterModel({ liking, promptTokens: 100 }));
    expect((await decide([urgent, choice(['a', 'b', 'c']), score])).promptTokens).toBe(300);
    expect(mock.requests).toHaveLength(2 + 3 + 2);
    expect(mock.others).toEqual([]);
  });

  it('is counted where the engine does not say it', async () => {
    mock.respond(letterModel({ liking, promptTokens: 0 }));
    mock.route('/tokenize', ({ json }) => json(200, { count: 77 }));
    expect((await decide([urgent])).promptTokens).toBe(77);
  });

  it('[DEC-26] over the maximum is refused before anything is asked, by the tokens of the engine', async () => {
    mock.respond(letterModel({ liking }));
    mock.route('/tokenize', ({ request: { body }, json }) =>
      json(200, { count: JSON.stringify(body).includes('How angry') ? 1001 : 1000 }),
    );
    const state = 'fire '.repeat(500);
    await expect(decide([urgent, score], { state, maxTokens: 1000 })).rejects.toMatchObject({
      kind: 'invalid_request',
      message: expect.stringContaining('question 2 '),
    });
    expect(mock.requests).toHaveLength(0);
    await decide([urgent], { state, maxTokens: 1000 });
  });

  it('[DEC-26] of a state that cannot fit is not even counted', async () => {
    const state = 'fire '.repeat(100_000);
    await expect(decide([urgent], { state, maxTokens: 1000 })).rejects.toMatchObject({
      kind: 'invalid_request',
    });
    expect(mock.others).toEqual([]);
  });

  it('[DEC-26] over the maximum is refused even when only the answer tells it', async () => {
    start('ollama');
    mock.respond(letterModel({ liking, promptTokens: 5000 }));
    await expect(decide([urgent], { maxTokens: 4096 })).rejects.toMatchObject({ kind: 'invalid_request' });
  });
});

describe('failures', () => {
  it.each([
    ['busy', answers.busy(503, '7'), 'overloaded'],
    ['broken', answers.html500, 'unreachable'],
    ['no JSON', answers.garbage, 'unreachable'],
    ['a reset connection', answers.resetBeforeHeaders, 'unreachable'],
    ['a prompt that is too long for it', answers.invalid('maximum context length'), 'invalid_request'],
    ['an answer without log probabilities', answers.hello, 'internal'],
  ] as const)('[DEC-28] %s', async (_, script, kind) => {
    mock.respond(script);
    await expect(decide([urgent])).rejects.toMatchObject({ kind });
  });

  it('of one question end all others at once', async () => {
    const model = letterModel({ liking });
    mock.respond(async (exchange) => {
      if (promptOf(exchange).includes('How angry')) {
        await mock.request(3);
        exchange.json(500, {});
      } else await exchange.request.aborted;
    });
    await expect(decide([urgent, score, urgent])).rejects.toMatchObject({ kind: 'unreachable' });
    const left = mock.requests.filter((asked) => !promptOf({ request: asked }).includes('How angry'));
    await Promise.all(left.map(({ aborted }) => aborted));
    mock.respond(model);
    await decide([urgent]);
  });

  it('a client who leaves ends all requests', async () => {
    mock.respond(answers.stallAtOnce);
    const controller = new AbortController();
    const pending = port.decide(request([urgent, score]), controller.signal);
    await mock.request(3);
    controller.abort(new Error('gone'));
    await expect(pending).rejects.toThrow('gone');
    await Promise.all(mock.requests.map(({ aborted }) => aborted));
  });
});

describe('answers of real engines', () => {
  const folder = new URL('./fixtures/', import.meta.url).pathname;
  const fixtures = globSync('*/decision.whole.json', { cwd: folder }).map((path) => {
    const fixture = JSON.parse(readFileSync(folder + path, 'utf8'));
    return [path, fixture] as const;
  });

  it('are there for every engine that decides', () => {
    const there = fixtures.map(([, { engine: name }]) => name).toSorted();
    const deciding = Object.values(flavors).filter(({ decision, name }) => decision && name !== 'generic');
    expect(there).toEqual(deciding.map(({ name }) => name).toSorted());
  });

  it.each(fixtures)('%s gives the expected distribution', (_, { body, expect: { probabilities } }) => {
    const { logprobs } = readLetters(JSON.parse(body), probabilities.length);
    expectClose(logprobs.map(Math.exp), probabilities);
  });

  it.each(fixtures)('%s was asked as the gateway asks', async (_, { engine: name, request: asked }) => {
    start(name);
    mock.respond(letterModel({ liking }));
    await decide([urgent], { model: asked.model });
    const { messages: _sent, ...sent } = mock.requests[0]?.body ?? {};
    const { messages: _asked, ...fields } = asked;
    expect(sent).toEqual(fields);
  });
});

import { describe, expect, it } from 'vitest';
import { createDecisionShell } from '../../../test/support/decision-shell.ts';
import { GatewayError } from '../../lib/errors.ts';

const url = '/v1/systemone';
const urgent = { type: 'noul', instructions: 'Is it urgent?' };
const team = { type: 'choice', instructions: 'Which team?', criteria: { billing: 'Money', tech: null } };
const mood = { type: 'score', instructions: 'How angry?', criteria: ['calm', 'annoyed', 'angry'] };
const body = { model: 'judge-one', state: 'I was charged twice.', questions: { urgent, team, mood } };
const many = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value]));

const { post, requests, ...shell } = createDecisionShell();
const ask = (changes: object = {}, at = url) => post(at, { ...body, ...changes });

/** A 422 in our envelope whose message and param name the field. */
async function refused(changes: object, field: string, at = url) {
  const before = requests.length;
  const answer = await ask(changes, at);
  expect([answer.status, answer.body]).toEqual([422, expect.any(String)]);
  expect(answer.json().error).toMatchObject({
    code: 422,
    type: 'validation_error',
    metadata: { error_type: 'unprocessable' },
    message: expect.stringContaining(field),
    param: expect.stringContaining(field),
  });
  expect(requests).toHaveLength(before);
}

describe('POST /systemone', () => {
  it('[DEC-1, DEC-2, DEC-3] answers every question under its id, with its type', async () => {
    const answer = await ask();
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({
      id: expect.stringMatching(/^dec-[0-9a-f]{24}$/),
      model: 'judge-one',
      answers: {
        urgent: { type: 'noul', noul: expect.closeTo(2 / 3) },
        team: {
          type: 'choice',
          choice: 'billing',
          probabilities: { billing: expect.closeTo(2 / 3), tech: expect.closeTo(1 / 3) },
          confidence: expect.closeTo(1 / 3),
        },
        mood: {
          type: 'score',
          score: expect.closeTo(4 / 7),
          legend: { 0: 'calm', 1: 'annoyed', 2: 'angry' },
          probabilities: { 0: expect.closeTo(4 / 7), 1: expect.closeTo(2 / 7), 2: expect.closeTo(1 / 7) },
          confidence: expect.closeTo((3 * (4 / 7) - 1) / 2),
        },
      },
      usage: { input_tokens: 30, output_tokens: 0, cost: 0.000003 },
    });
    expect(answer.headers['x-generation-id']).toMatch(/^gen_/);
  });

  it('[DEC-4] model is required', async () => {
    await refused({ model: undefined }, 'model');
    await refused({ model: null }, 'model');
  });

  it('[DEC-5, DEC-6] a model that is no decision model, or none at all, is a 422', async () => {
    await refused({ model: 'qwen3-8b' }, 'model');
    await refused({ model: 'no-such-model' }, 'model');
    await refused({ model: '' }, 'model');
  });

  it('[DEC-7] state may be a text, an object or an array, which are read as JSON', async () => {
    for (const [state, text] of [
      ['as it is', 'as it is'],
      ['', ''],
      [{ a: [1, null] }, '{"a":[1,null]}'],
      [[1, 'two'], '[1,"two"]'],
      // Only the aliases know parts.
      [[{ type: 'text', text: 'x' }], '[{"type":"text","text":"x"}]'],
    ] as const) {
      expect((await ask({ state })).status).toBe(200);
      expect(requests.at(-1)?.state).toBe(text);
    }
  });

  it.each([undefined, null, 7, true])('[DEC-8] state %s is a 422', async (state) => {
    await refused({ state }, 'state');
  });

  it.each([undefined, null, [], [urgent], 'x', {}])('[DEC-9] questions %j is a 422', async (questions) => {
    await refused({ questions }, 'questions');
  });

  it('[DEC-10] 64 questions are accepted, 65 are a 422', async () => {
    const answer = await ask({ questions: many(64, urgent) });
    expect(Object.keys(answer.json().answers)).toHaveLength(64);
    await refused({ questions: many(65, urgent) }, 'questions');
  });

  it.each([undefined, null, 'yesno', 'NOUL', 3])('[DEC-11] question type %s is a 422', async (type) => {
    await refused({ questions: { q: { ...urgent, type } } }, 'questions.q');
  });

  it('[DEC-11] tells which types there are', async () => {
    const { message } = (await ask({ questions: { q: { type: 'rank' } } })).json().error;
    expect(message).toBe('questions.q.type must be one of "noul", "choice", "score", not "rank"');
  });

  it('[DEC-12] instructions may be a text, an object, an array, null or absent', async () => {
    for (const [instructions, text] of [
      ['Which?', 'Which?'],
      [{ ask: 'which' }, '{"ask":"which"}'],
      [['a', 1], '["a",1]'],
      [null, ''],
      [undefined, ''],
    ] as const) {
      expect((await ask({ questions: { q: { ...team, instructions } } })).status).toBe(200);
      expect(requests.at(-1)?.questions[0]?.instructions).toBe(text);
    }
    await refused({ questions: { q: { ...team, instructions: 5 } } }, 'questions.q.instructions');
  });

  it('[DEC-13] a choice takes 1 to 255 options', async () => {
    for (const count of [1, 255]) {
      const answer = await ask({ questions: { q: { ...team, criteria: many(count, null) } } });
      expect(Object.keys(answer.json().answers.q.probabilities)).toHaveLength(count);
    }
    for (const criteria of [{}, many(256, 'x'), ['a', 'b'], null, undefined, 'a', { a: 5 }])
      await refused({ questions: { q: { ...team, criteria } } }, 'questions.q.criteria');
  });

  it('[DEC-14] a score takes 1 to 10 levels', async () => {
    for (const count of [1, 10]) {
      const answer = await ask({ questions: { q: { ...mood, criteria: Array(count).fill('level') } } });
      expect(Object.keys(answer.json().answers.q.legend)).toHaveLength(count);
    }
    for (const criteria of [[], Array(11).fill('x'), { a: null }, null, undefined, [5]])
      await refused({ questions: { q: { ...mood, criteria } } }, 'questions.q.criteria');
  });

  it('[DEC-15, DEC-16] a noul needs no criteria; those for true and false, and null, are accepted', async () => {
    for (const [criteria, options] of [
      [undefined, [{ label: 'yes' }, { label: 'no' }]],
      [null, [{ label: 'yes' }, { label: 'no' }]],
      [{ true: null }, [{ label: 'yes' }, { label: 'no' }]],
      [
        { true: 'Today', false: { if: 'later' } },
        [
          { label: 'yes', description: 'Today' },
          { label: 'no', description: '{"if":"later"}' },
        ],
      ],
    ] as const) {
      expect((await ask({ questions: { q: { ...urgent, criteria } } })).status).toBe(200);
      expect(requests.at(-1)?.questions[0]?.options).toEqual(options);
    }
    const levels = await ask({ questions: { q: { ...mood, criteria: [null, 'high', { n: 1 }] } } });
    expect(requests.at(-1)?.questions[0]?.options).toEqual([
      { label: '0' },
      { label: 'high' },
      { label: '{"n":1}' },
    ]);
    expect(levels.json().answers.q.legend).toEqual({ 0: null, 1: 'high', 2: { n: 1 } });
  });

  it('[DEC-17] a noul answer has its probability of yes, and no confidence', async () => {
    const { answers } = (await ask({ questions: { urgent } })).json();
    expect(Object.keys(answers.urgent)).toEqual(['type', 'noul']);
  });

  it('[DEC-18, DEC-21] the choice is the most likely option, wherever it stands', async () => {
    const { post: postTo } = createDecisionShell({
      decide: () => ({ probabilities: [[0.2, 0.5, 0.3]], promptTokens: 1 }),
    });
    const criteria = { a: null, b: null, c: null };
    const sent = await postTo(url, { ...body, questions: { q: { ...team, criteria } } });
    expect(sent.json().answers.q).toEqual({
      type: 'choice',
      choice: 'b',
      probabilities: { a: 0.2, b: 0.5, c: 0.3 },
      confidence: expect.closeTo(0.25),
    });
  });

  it('[DEC-19, DEC-21, DEC-22, DEC-23] score, legend and probabilities go by the index, and nothing is rounded', async () => {
    const thirds = [1 / 3, 1 / 3, 1 / 3];
    const { post: postTo } = createDecisionShell({
      decide: () => ({ probabilities: [thirds], promptTokens: 1 }),
    });
    // Labels that are alike, or look like an index, do not matter.
    const criteria = ['1', '1', '0'];
    const { q } = (await postTo(url, { ...body, questions: { q: { ...mood, criteria } } })).json().answers;
    expect(q.probabilities).toEqual({ 0: 1 / 3, 1: 1 / 3, 2: 1 / 3 });
    expect(q.legend).toEqual({ 0: '1', 1: '1', 2: '0' });
    expect(q.score).toBe(1 / 3 + 2 / 3);
    expect(q.confidence).toBeCloseTo(0, 12);
  });

  it('[DEC-25] with one option or level confidence is 1, and the score is 0', async () => {
    const one = { ...team, criteria: { only: null } };
    const flat = { ...mood, criteria: ['only'] };
    const { answers } = (await ask({ questions: { one, flat } })).json();
    expect(answers.one).toMatchObject({ choice: 'only', probabilities: { only: 1 }, confidence: 1 });
    expect(answers.flat).toMatchObject({ score: 0, probabilities: { 0: 1 }, confidence: 1 });
  });

  it('[DEC-26] the engine is told the model’s maximum, and what it finds too long is a 422', async () => {
    await ask();
    expect(requests.at(-1)?.maxTokens).toBe(8192);
    const { post: postTo } = createDecisionShell({
      decide: () => {
        throw new GatewayError('invalid_request', 'The prompt is too long', { param: 'state' });
      },
    });
    const sent = await postTo(url, body);
    expect([sent.status, sent.json().error.param]).toEqual([422, 'state']);
  });

  it('[DEC-27] a body that is no JSON, or no object, is a 422', async () => {
    for (const payload of ['{"model":', '', '[]', '"x"', 'null'])
      expect((await post(url, payload)).status, payload).toBe(422);
    expect((await post(url, 'model=x', { 'content-type': 'text/plain' })).status).toBe(422);
  });

  it.each([
    ['overloaded', 529, 'provider_overloaded'],
    ['unreachable', 502, 'provider_unavailable'],
    ['timeout', 504, 'timeout'],
  ] as const)('[DEC-28] an engine that is %s is a %i', async (kind, status, type) => {
    const { post: postTo } = createDecisionShell({
      decide: () => {
        throw new GatewayError(kind, 'no', { retryAfterSeconds: 3 });
      },
    });
    const sent = await postTo(url, body);
    expect([sent.status, sent.json().error.metadata.error_type]).toEqual([status, type]);
    expect(sent.headers['retry-after']).toBe('3');
  });

  it('[DEC-28] a model that is not served is a 529', async () => {
    const { post: postTo } = createDecisionShell({
      models: [{ id: 'judge-one', type: 'decision', engine: 'sandbox', contextLength: 10, served: false }],
    });
    expect((await postTo(url, body)).status).toBe(529);
  });

  it('[BILL-25, BILL-26] bills the input tokens of all questions, and none for output', async () => {
    const sent = (await ask({ questions: many(5, urgent) })).json();
    expect(sent.usage).toEqual({ input_tokens: 50, output_tokens: 0, cost: 0.000005 });
    expect(shell.settlements.at(-1)).toEqual({ quantities: { promptTokens: 50 }, outcome: 'stop' });
    expect(shell.operations.at(-1)).toMatchObject({ name: 'decisions', id: expect.stringMatching(/^gen_/) });
  });

  it('takes any name for a question and an option', async () => {
    const names = ['__proto__', 'constructor', 'a\nb', '', '10', 'é'];
    const criteria = JSON.stringify(Object.fromEntries(names.map((name) => [name, 'x'])));
    const question = `{"type":"choice","criteria":${criteria}}`;
    const questions = names.map((name) => `${JSON.stringify(name)}:${question}`);
    const sent = await post(url, `{"model":"judge-one","state":"s","questions":{${questions}}}`);
    expect(sent.status).toBe(200);
    const { answers } = sent.json();
    expect(Object.keys(answers).toSorted()).toEqual(names.toSorted());
    for (const name of names)
      expect(
        Object.keys(Object.getOwnPropertyDescriptor(answers, name)?.value.probabilities).toSorted(),
      ).toEqual(names.toSorted());
  });

  it('checks what stands under a name with a line break like any other', async () => {
    expect((await ask({ questions: { 'a\nb': { type: 'rank' } } })).status).toBe(422);
    expect((await ask({ questions: { q: { ...team, criteria: { 'a\nb': 5 } } } })).status).toBe(422);
  });

  it('ignores fields that it does not know', async () => {
    const sent = await ask({
      provider: { order: ['x'] },
      session_id: 's',
      trace: {},
      user: 'u',
      temperature: 2,
    });
    expect(sent.status).toBe(200);
  });

  it('[LIMIT-13] tells how the limits stand', async () => {
    expect((await ask()).headers['x-ratelimit-limit-requests']).toBe('60');
  });
});

describe('POST /alpha/decisions', () => {
  it.each(['/alpha/decisions', '/api/alpha/decisions'])(
    '[DEC-29] %s at the root of the host takes the same body and gives the same answer',
    async (alias) => {
      const [plain, other] = [(await ask()).json(), (await ask({}, alias)).json()];
      expect(other).toEqual({ ...plain, id: other.id });
      await refused({ model: 'no-such-model' }, 'model', alias);
      expect((await shell.send({ method: 'POST', url: `/v1${alias}`, payload: body })).status).toBe(404);
      expect((await shell.send({ method: 'POST', url: alias, payload: body, key: null })).status).toBe(401);
      expect((await shell.send({ url: alias })).headers['allow']).toBe('POST, OPTIONS');
    },
  );

  it('[DEC-29] the state may be a list of text and JSON parts', async () => {
    for (const [state, text] of [
      ['plain', 'plain'],
      [[{ type: 'text', text: 'one' }], 'one'],
      [
        [
          { type: 'text', text: 'one' },
          { type: 'json', value: { two: 2 } },
        ],
        'one\n\n{"two":2}',
      ],
      [[{ type: 'json', value: null }], 'null'],
      // Data that only looks like parts.
      [[], '[]'],
      [[{ type: 'text' }], '[{"type":"text"}]'],
      [[{ type: 'text', text: 'one' }, 2], '[{"type":"text","text":"one"},2]'],
      [{ type: 'text', text: 'one' }, '{"type":"text","text":"one"}'],
    ] as const) {
      expect((await ask({ state }, '/alpha/decisions')).status).toBe(200);
      expect(requests.at(-1)?.state).toBe(text);
    }
    const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AA==' } };
    await refused({ state: [{ type: 'text', text: 'x' }, file] }, 'state[1]', '/alpha/decisions');
  });
});

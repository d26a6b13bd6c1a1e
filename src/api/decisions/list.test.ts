import { describe, expect, it } from 'vitest';
import { createDecisionShell } from '../../../test/support/decision-shell.ts';

const url = '/v1/decisions';
const urgent = { type: 'predicate', name: 'urgent', instructions: 'It is urgent.' };
const team = {
  type: 'choice',
  name: 'team',
  instructions: 'Which team?',
  choices: [{ value: 'billing', description: 'Money' }, { value: 'tech' }],
};
const mood = {
  type: 'score',
  name: 'mood',
  instructions: 'How angry?',
  levels: [{ label: 'calm' }, { label: 'annoyed', description: 'A little' }, { label: 'angry' }],
};
const body = { model: 'judge-one', input: 'I was charged twice.', questions: [urgent, team, mood] };

const { post, requests } = createDecisionShell();
const ask = (changes: object = {}) => post(url, { ...body, ...changes });

async function refused(changes: object, field: string) {
  const answer = await ask(changes);
  expect([answer.status, answer.json().error.message]).toEqual([422, expect.stringContaining(field)]);
}

describe('POST /decisions', () => {
  it('[DEC-30] takes an input and a list of questions', async () => {
    await ask();
    expect(requests.at(-1)).toEqual({
      model: 'judge-one',
      state: 'I was charged twice.',
      maxTokens: 8192,
      questions: [
        { type: 'noul', instructions: 'It is urgent.', options: [{ label: 'yes' }, { label: 'no' }] },
        {
          type: 'choice',
          instructions: 'Which team?',
          options: [{ label: 'billing', description: 'Money' }, { label: 'tech' }],
        },
        {
          type: 'score',
          instructions: 'How angry?',
          options: [{ label: 'calm' }, { label: 'annoyed', description: 'A little' }, { label: 'angry' }],
        },
      ],
    });
  });

  it('[DEC-31] answers in the order of the questions, with lists of probabilities and usage in detail', async () => {
    const answer = await ask();
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({
      id: expect.stringMatching(/^dec-/),
      model: 'judge-one',
      answers: [
        { type: 'predicate', name: 'urgent', probability: expect.closeTo(2 / 3) },
        {
          type: 'choice',
          name: 'team',
          choice: 'billing',
          confidence: expect.closeTo(1 / 3),
          probabilities: [
            { value: 'billing', probability: expect.closeTo(2 / 3) },
            { value: 'tech', probability: expect.closeTo(1 / 3) },
          ],
        },
        {
          type: 'score',
          name: 'mood',
          score: expect.closeTo(4 / 7),
          confidence: expect.closeTo((3 * (4 / 7) - 1) / 2),
          probabilities: [
            { value: 0, label: 'calm', probability: expect.closeTo(4 / 7) },
            { value: 1, label: 'annoyed', probability: expect.closeTo(2 / 7) },
            { value: 2, label: 'angry', probability: expect.closeTo(1 / 7) },
          ],
        },
      ],
      usage: {
        input_tokens: 30,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 0,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 30,
        cost: 0.000003,
      },
    });
  });

  it('[DEC-31] a question without a name has null for one; a choice keeps the type of its value', async () => {
    const choices = [{ value: true }, { value: 'true' }, { value: false }];
    const { answers } = (
      await ask({ questions: [{ type: 'predicate' }, { type: 'choice', choices }] })
    ).json();
    expect(answers[0].name).toBeNull();
    expect(answers[1]).toMatchObject({ choice: true, probabilities: choices });
  });

  it('[DEC-30] the input may be turns of a conversation, with texts and JSON', async () => {
    for (const [input, state] of [
      [[{ role: 'user', content: 'Just this' }], 'Just this'],
      [
        [
          {
            type: 'message',
            role: 'user',
            content: [
              { type: 'input_text', text: 'One' },
              { type: 'input_json', data: { two: 2 } },
            ],
          },
        ],
        'One\n\n{"two":2}',
      ],
      [
        [
          { role: 'system', content: 'Be kind.' },
          { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
          { type: 'function_call', call_id: 'c', name: 'look', arguments: '{"at":1}' },
          { type: 'function_call_output', call_id: 'c', output: 'found' },
          { type: 'custom_tool_call', call_id: 'd', name: 'run', input: 'ls' },
          { type: 'custom_tool_call_output', call_id: 'd', output: [{ type: 'input_text', text: 'a.txt' }] },
          { role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
          { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
        ],
        'system: Be kind.\n\nuser: Hi\n\nassistant calls look: {"at":1}\n\ntool: found\n\n' +
          'assistant calls run: ls\n\ntool: a.txt\n\nassistant: Hello\n\nassistant: No.',
      ],
    ] as const) {
      expect((await ask({ input })).status).toBe(200);
      expect(requests.at(-1)?.state).toBe(state);
    }
  });

  it('[DEC-30] instructions may be parts, or none', async () => {
    const parts = [
      { type: 'input_text', text: 'Is it' },
      { type: 'input_json', data: { late: true } },
    ];
    for (const [instructions, text] of [
      [parts, 'Is it\n\n{"late":true}'],
      [null, ''],
      [undefined, ''],
    ] as const) {
      expect((await ask({ questions: [{ ...urgent, instructions }] })).status).toBe(200);
      expect(requests.at(-1)?.questions[0]?.instructions).toBe(text);
    }
  });

  it('[DEC-30] refuses with a 422 what it cannot read, and names it', async () => {
    await refused({ model: undefined }, 'model');
    await refused({ model: 'qwen3-8b' }, 'qwen3-8b');
    await refused({ input: undefined }, 'input');
    await refused({ input: 5 }, 'input');
    await refused({ input: [] }, 'input');
    await refused({ questions: [] }, 'questions');
    await refused({ questions: {} }, 'questions');
    await refused({ questions: Array(65).fill(urgent) }, 'questions');
    await refused({ questions: [{ ...urgent, type: 'noul' }] }, 'questions[0].type');
    await refused({ questions: [{ ...team, choices: [] }] }, 'questions[0].choices');
    await refused(
      { questions: [{ ...team, choices: [{ value: 'a' }, { value: 'a' }] }] },
      'questions[0].choices[1].value',
    );
    await refused(
      { questions: [urgent, { ...mood, levels: Array(11).fill({ label: 'x' }) }] },
      'questions[1].levels',
    );
    const image = { type: 'input_image', image_url: 'https://example.com/a.png' };
    await refused({ input: [{ role: 'user', content: [image] }] }, 'input[0].content[0]');
    await refused({ questions: [{ ...urgent, instructions: [image] }] }, 'questions[0].instructions[0]');
    expect((await post(url, '{')).status).toBe(422);
  });
});

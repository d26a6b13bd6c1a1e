/** What travels in the benchmarks: the engine's answers as vLLM writes them, and the requests of the clients. */

export const scenarioNames = ['json', 'burst', 'paced'] as const;
export type ScenarioName = (typeof scenarioNames)[number];

/** The ways in which the same streamed answer is asked for. */
export const formatNames = ['chat', 'messages', 'responses', 'responses unstored'] as const;
export type FormatName = (typeof formatNames)[number];

export const tokensPerStream = 100;

const words =
  'The gateway takes a request, finds the engine that is least busy and hands it on as it came'.split(' ');

export const plainPieces = Array.from({ length: tokensPerStream }, (_, i) => ` ${words[i % words.length]}`);
export const cjkPieces = Array.from({ length: tokensPerStream }, (_, i) =>
  '机关车库里有一台转车盘'.slice(i % 9, (i % 9) + 2),
);

const head = {
  id: 'chatcmpl-0f6f5c9d2b7e4a54a2f3b1c1d7e6a980',
  object: 'chat.completion.chunk',
  created: 1_763_164_800,
  model: 'Qwen/Qwen3-8B',
};
const usage = { prompt_tokens: 31, total_tokens: 131, completion_tokens: 100, prompt_tokens_details: null };

function chunk(delta: object, finishReason: string | null = null): string {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason, token_ids: null };
  return toEvent({ ...head, choices: [choice] });
}

function toEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** The events of a streamed answer: role, tokens, finish, usage, `[DONE]`. */
export function toEvents(pieces: readonly string[]): string[] {
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces.map((content) => chunk({ content })),
    chunk({ content: '' }, 'stop'),
    toEvent({ ...head, choices: [], usage }),
    'data: [DONE]\n\n',
  ];
}

/** A whole answer of as many tokens. */
export function toAnswer(pieces: readonly string[]): string {
  const message = {
    role: 'assistant',
    content: pieces.join(''),
    refusal: null,
    tool_calls: [],
    reasoning: null,
  };
  const choice = {
    index: 0,
    message,
    logprobs: null,
    finish_reason: 'stop',
    stop_reason: null,
    token_ids: null,
  };
  return JSON.stringify({
    ...head,
    object: 'chat.completion',
    choices: [choice],
    usage,
    prompt_logprobs: null,
  });
}

const instructions = 'You are a helpful assistant. Answer briefly and say when you are not sure.';
const question = 'What does a roundhouse have to do with locomotives, and why is it round?';
const user = { role: 'user', content: question };

const formats: Readonly<Record<FormatName, { path: string; body: object }>> = {
  chat: {
    path: '/v1/chat/completions',
    body: { messages: [{ role: 'system', content: instructions }, user], max_tokens: 256 },
  },
  messages: { path: '/v1/messages', body: { system: instructions, messages: [user], max_tokens: 256 } },
  responses: { path: '/v1/responses', body: { instructions, input: [user], max_output_tokens: 256 } },
  'responses unstored': {
    path: '/v1/responses',
    body: { instructions, input: [user], max_output_tokens: 256, store: false },
  },
};

/** A client's request. Streams are told apart by their model, which is all that the engine looks at. */
export function toRequest(
  scenario: ScenarioName,
  port: number,
  key: string,
  format: FormatName = 'chat',
): string {
  const { path, body: fields } = formats[format];
  const body = JSON.stringify({
    model: scenario,
    ...fields,
    temperature: 0.7,
    ...(scenario === 'json' ? {} : { stream: true }),
  });
  return (
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${key}\r\n` +
    'content-type: application/json\r\naccept: */*\r\nuser-agent: bench\r\n' +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

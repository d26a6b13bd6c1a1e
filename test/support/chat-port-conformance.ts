/**
 * What every chat port keeps, whatever engine is behind it. A suite opens a port, says which of the requests
 * below it can answer, and the cases run against it.
 *
 * The engine, or what stands in for it, has to answer the requests of `conformanceRequests`:
 * `text` with at least 20 pieces, `limited` cut by its limit of 5 tokens, `tool` with a call of `get_weather`,
 * `thinking` with thoughts before the text, `choices` with two answers.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatPort, ChatRequest, FinishReason } from '../../src/engines/contract/chat.ts';
import { chatRequest, completed, createRecordingSink, type Heard, settled, streamed } from './chat-sink.ts';

export const conformanceTool = {
  name: 'get_weather',
  description: 'The weather in a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

export type ConformanceCase = 'text' | 'limited' | 'tool' | 'thinking' | 'choices';

export const conformanceRequests: Readonly<Record<ConformanceCase, ChatRequest>> = {
  text: chatRequest('Count to 40, please.'),
  limited: chatRequest('Count to 40, please.', { maxTokens: 5 }),
  tool: chatRequest('What is the weather in Paris?', { tools: [conformanceTool], toolChoice: 'required' }),
  thinking: chatRequest('Count to 40, please.', { thinking: { enabled: true } }),
  choices: chatRequest('Count to 40, please.', { n: 2 }),
};

export interface PortUnderTest {
  port: ChatPort;
  /** How many calls of the engine are under way; each case leaves none. */
  running?(): number;
  close?(): Promise<void>;
}

export interface ConformanceOptions {
  open(): Promise<PortUnderTest> | PortUnderTest;
  /** Cases that the engine cannot do. */
  without?: readonly ConformanceCase[];
  /** Where a request needs more than the suite knows, such as a model's name. */
  adapt?(request: ChatRequest): ChatRequest;
}

const finishReasons: readonly FinishReason[] = ['stop', 'length', 'tool_calls', 'content_filter'];
const isPart = ({ type }: Heard) => type === 'text' || type === 'reasoning' || type === 'tool';

export function describeChatPort(name: string, { open, without = [], adapt }: ConformanceOptions): void {
  describe(`${name}: what every chat port keeps`, () => {
    let opened: PortUnderTest;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close?.());

    const request = (key: ConformanceCase) => adapt?.(conformanceRequests[key]) ?? conformanceRequests[key];
    const all = (Object.keys(conformanceRequests) as ConformanceCase[]).filter(
      (key) => !without.includes(key),
    );
    const itCan = (key: ConformanceCase) => it.skipIf(without.includes(key));
    const expectIdle = () => expect(opened.running?.() ?? 0).toBe(0);

    it.each(all)('%s: parts, a finish per answer, usage, then exactly one end', async (key) => {
      const sink = await streamed(opened.port, request(key));
      await settled();
      expect(sink.error).toBeUndefined();
      const events = sink.heard.filter(({ type }) => type !== 'flush');
      const { n } = request(key);
      expect(events.filter(({ type }) => type === 'finish')).toHaveLength(n);
      expect(events.filter(({ type }) => type === 'usage')).toHaveLength(1);
      expect(events.filter(({ type }) => type === 'end')).toHaveLength(1);
      expect(events.at(-1)?.type).toBe('end');
      expect(events.at(-2)?.type).toBe('usage');
      for (let choice = 0; choice < n; choice++) {
        const own = events.filter((event) => 'choice' in event && event.choice === choice);
        expect(own.findIndex(({ type }) => type === 'finish')).toBe(own.length - 1);
        const { reason, native } = sink.choice(choice).finish;
        expect(finishReasons).toContain(reason);
        expect(native).not.toBe('');
      }
      expectIdle();
    });

    it.each(all)('%s: streamed and whole are the same answer', async (key) => {
      const sink = await streamed(opened.port, request(key));
      const whole = await completed(opened.port, request(key));
      const anonymous = (choice: ReturnType<typeof sink.choice>) => ({
        ...choice,
        toolCalls: choice.toolCalls.map(({ name: called, arguments: args }) => ({ called, args })),
      });
      expect(whole.choices).toHaveLength(request(key).n);
      for (const [index, choice] of whole.choices.entries()) {
        expect(anonymous(sink.choice(index))).toEqual(anonymous(choice));
      }
      const { cachedTokens: _, ...counted } = whole.usage;
      expect(sink.usageHeard).toMatchObject(counted);
      expectIdle();
    });

    it.each(all)('%s: usage counts the prompt and the completion', async (key) => {
      const { usage } = await completed(opened.port, request(key));
      for (const count of Object.values(usage)) expect(Number.isInteger(count) && count >= 0).toBe(true);
      expect(usage.promptTokens).toBeGreaterThan(0);
      expect(usage.completionTokens).toBeGreaterThan(0);
      expect(usage.cachedTokens).toBeLessThanOrEqual(usage.promptTokens);
      expect(usage.reasoningTokens).toBeLessThanOrEqual(usage.completionTokens);
    });

    itCan('text')('nothing is heard before the call returns', async () => {
      const sink = createRecordingSink();
      const run = opened.port.stream(request('text'), sink);
      expect(sink.heard).toEqual([]);
      let isDone = false;
      const whole = opened.port.complete(request('text'), () => {
        isDone = true;
      });
      expect(isDone).toBe(false);
      whole.abort();
      run.abort();
      await settled();
    });

    itCan('text')('what has gathered is flushed, and never per part in a burst', async () => {
      const sink = await streamed(opened.port, request('text'));
      const parts = sink.heard.filter(isPart).length;
      expect(parts).toBeGreaterThanOrEqual(20);
      const flushes = sink.heard.filter(({ type }) => type === 'flush').length;
      expect(flushes).toBeLessThan(parts);
    });

    itCan('limited')('an answer that reaches its limit ends with length', async () => {
      const { choices, usage } = await completed(opened.port, request('limited'));
      expect(choices[0]?.finish.reason).toBe('length');
      expect(usage.completionTokens).toBeLessThanOrEqual(5);
    });

    itCan('tool')(
      'a call has an id that starts with call_, a name, and arguments that are JSON',
      async () => {
        const sink = await streamed(opened.port, request('tool'));
        const { toolCalls, finish } = sink.choice();
        expect(finish.reason).toBe('tool_calls');
        expect(toolCalls.length).toBeGreaterThan(0);
        for (const call of toolCalls) {
          expect(call.id).toMatch(/^call_./);
          expect(call.name).toBe(conformanceTool.name);
          expect(JSON.parse(call.arguments)).toBeTypeOf('object');
        }
        const pieces = sink.heard.filter((event) => event.type === 'tool');
        for (const [index] of toolCalls.entries()) {
          const [first, ...later] = pieces.filter((piece) => piece.index === index);
          expect([first?.id, first?.name]).toEqual([toolCalls[index]?.id, toolCalls[index]?.name]);
          expect(later.every(({ id, name: later }) => id === undefined && later === undefined)).toBe(true);
        }
        expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(toolCalls.length);
      },
    );

    itCan('thinking')('thoughts come before the text, and are counted', async () => {
      const sink = await streamed(opened.port, request('thinking'));
      expect(sink.order()).toBe('reasoning text finish usage end');
      expect(sink.choice().reasoning).not.toBe('');
      expect(sink.usageHeard?.reasoningTokens).toBeGreaterThan(0);
    });

    itCan('choices')('every answer has its own index, from 0', async () => {
      const sink = await streamed(opened.port, request('choices'));
      const indexes = sink.heard.flatMap((event) => ('choice' in event ? [event.choice] : []));
      expect([...new Set(indexes)].sort()).toEqual([0, 1]);
      expect(sink.choice(0).text).not.toBe('');
      expect(sink.choice(1).text).not.toBe('');
    });

    itCan('text')('after abort nothing is heard, whenever it comes', async () => {
      const early = createRecordingSink();
      opened.port.stream(request('text'), early).abort();
      await settled();
      expect(early.heard).toEqual([]);

      const within = createRecordingSink(({ type }) => {
        if (type === 'text') run.abort();
      });
      const run = opened.port.stream(request('text'), within);
      await within.parts(1);
      await settled();
      expect(within.heard.map(({ type }) => type)).toEqual(['text']);
      expectIdle();

      const late = await streamed(opened.port, request('text'));
      expect(late.error).toBeUndefined();
    });

    itCan('text')('abort is safe twice, after the end, and for a whole answer', async () => {
      const sink = createRecordingSink();
      const run = opened.port.stream(request('text'), sink);
      await sink.over;
      run.abort();
      run.abort();
      let calls = 0;
      const whole = opened.port.complete(request('text'), () => {
        calls += 1;
      });
      whole.abort();
      whole.abort();
      await settled();
      expect(calls).toBe(0);
      expect(sink.heard.filter(({ type }) => type === 'end')).toHaveLength(1);
      expectIdle();
    });

    itCan('text')('a paused run says nothing more before resume, and then all of it', async () => {
      const reference = await streamed(opened.port, request('text'));
      const sink = createRecordingSink(({ type }) => {
        if (type === 'text' && !isPausedOnce) {
          isPausedOnce = true;
          run.pause();
        }
      });
      let isPausedOnce = false;
      const run = opened.port.stream(request('text'), sink);
      await sink.parts(1);
      await settled();
      expect(sink.heard.some(({ type }) => type === 'end')).toBe(false);
      const before = sink.heard.length;
      await settled();
      expect(sink.heard.length).toBe(before);
      run.resume();
      await sink.over;
      expect(sink.choice()).toEqual(reference.choice());
    });

    itCan('text')('a run that is paused can be aborted', async () => {
      const sink = createRecordingSink();
      const run = opened.port.stream(request('text'), sink);
      run.pause();
      await settled();
      const before = sink.heard.length;
      run.abort();
      run.resume();
      await settled();
      expect(sink.heard.length).toBe(before);
      expectIdle();
    });

    itCan('text')('the prompt can be counted, and more text has more tokens', async () => {
      const { signal } = new AbortController();
      const few = await opened.port.countTokens(request('text'), signal);
      const more = {
        ...request('text'),
        messages: [{ role: 'user', content: 'word '.repeat(100) }],
      } as const;
      expect(Number.isInteger(few) && few > 0).toBe(true);
      expect(await opened.port.countTokens(more, signal)).toBeGreaterThan(few);
    });
  });
}

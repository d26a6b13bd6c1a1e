import { expect, test } from 'vitest';
import { setMessagesRateHeaders, setRateHeaders, toDurationText } from './rate-headers.ts';

test.each([
  [0, '0s'],
  [-5, '0s'],
  [0.2, '1ms'],
  [12, '12ms'],
  [999, '999ms'],
  [1000, '1s'],
  [1001, '2s'],
  [59_000, '59s'],
  [59_001, '1m0s'],
  [60_000, '1m0s'],
  [90_000, '1m30s'],
  [360_000, '6m0s'],
])('%d ms is %s', (ms, text) => {
  expect(toDurationText(ms)).toBe(text);
});

test('the three headers of a request', () => {
  const headers: Record<string, string> = {};
  const setHeader = (name: string, value: string) => {
    headers[name] = value;
  };
  setRateHeaders({ setHeader }, { limit: 60, remaining: 59, resetMs: 12 });
  expect(headers).toEqual({
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '59',
    'x-ratelimit-reset-requests': '12ms',
  });
});

test.each([
  [0, '2026-11-15T12:00:00Z'],
  [1, '2026-11-15T12:00:01Z'],
  [1000, '2026-11-15T12:00:01Z'],
  [59_001, '2026-11-15T12:01:00Z'],
])(
  '[LIMIT-15] on the messages routes also as a point in time, rounded up: in %d ms is %s',
  (resetMs, reset) => {
    const headers: Record<string, string> = {};
    const setHeader = (name: string, value: string) => {
      headers[name] = value;
    };
    const now = Date.UTC(2026, 10, 15, 12);
    setMessagesRateHeaders({ setHeader }, { limit: 60, remaining: 59, resetMs }, now);
    expect(headers).toEqual({
      'anthropic-ratelimit-requests-limit': '60',
      'anthropic-ratelimit-requests-remaining': '59',
      'anthropic-ratelimit-requests-reset': reset,
    });
  },
);

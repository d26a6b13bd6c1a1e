import { expect, test } from 'vitest';
import { type Leaving, Presence, toAbortSignal } from './presence.ts';

test('everybody who listens is told once, with the reason at hand', () => {
  const presence = new Presence();
  const heard: unknown[] = [];
  const gone = () => heard.push('gone');
  presence.addEventListener('abort', () => heard.push(presence.reason));
  presence.addEventListener('abort', gone);
  presence.removeEventListener('abort', gone);
  presence.leave('left');
  presence.leave('again');
  expect(heard).toEqual(['left']);
  expect(presence.aborted).toBe(true);
});

test('who is told may take another out, and one that fails silences nobody', () => {
  const presence = new Presence();
  const heard: string[] = [];
  const second = () => heard.push('second');
  presence.addEventListener('abort', () => presence.removeEventListener('abort', second));
  presence.addEventListener('abort', second);
  presence.addEventListener('abort', () => {
    throw new Error('a bug');
  });
  presence.addEventListener('abort', () => heard.push('last'));
  const { signal } = presence;
  expect(() => presence.leave('left')).toThrow('a bug');
  expect(heard).toEqual(['last']);
  expect(signal.aborted).toBe(true);
});

test('its signal follows it, whether it is asked for before or after', () => {
  const early = new Presence();
  const { signal } = early;
  expect(signal.aborted).toBe(false);
  early.leave('left');
  expect(signal.reason).toBe('left');
  expect(early.signal).toBe(signal);
  const late = new Presence();
  late.leave('gone');
  expect(late.signal.aborted).toBe(true);
  expect(late.signal.reason).toBe('gone');
});

test('a signal can be had of anything that tells of leaving', () => {
  const { signal } = new AbortController();
  expect(toAbortSignal(signal)).toBe(signal);
  const presence = new Presence();
  expect(toAbortSignal(presence)).toBe(presence.signal);
  let tell = () => {};
  const other: Leaving = {
    aborted: false,
    reason: 'why',
    addEventListener: (_type, listener) => {
      tell = listener;
    },
    removeEventListener: () => {},
  };
  const made = toAbortSignal(other);
  tell();
  expect(made.reason).toBe('why');
  expect(toAbortSignal({ ...other, aborted: true }).aborted).toBe(true);
});

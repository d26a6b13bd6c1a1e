import { describe, expect, it } from 'vitest';
import { toAddition, toPrompt } from './text.ts';

describe('texts of two stretches', () => {
  it.each([
    ['', ' Hello  there.\n', 'Hello there.'],
    ['Hello.', 'How are you?', ' How are you?'],
    ['Hello.', ' ', ''],
    ['Hello.', '...', ''],
    ['Hello.', '5', ' 5'],
    ['今日は晴れです。', '明日も晴れます。', '明日も晴れます。'],
    ['今日は', 'OK です', ' OK です'],
    ['สวัสดี', 'ครับ', 'ครับ'],
    ['안녕하세요.', '반갑습니다.', ' 반갑습니다.'],
  ])('%j and %j are joined by %j', (before, heard, addition) => {
    expect(toAddition(before, heard)).toBe(addition);
  });
});

describe('what an engine is told before a stretch', () => {
  it('is nothing where there is nothing', () => {
    expect(toPrompt(undefined, '')).toBeUndefined();
    expect(toPrompt('  ', '')).toBeUndefined();
  });

  it('[STT-13] is the client’s guidance, then the end of what was said', () => {
    expect(toPrompt(' Roundhouse, gRPC ', 'We begin.')).toBe('Roundhouse, gRPC We begin.');
  });

  it('is cut at a word, so that a long text does not push the guidance out', () => {
    const prompt = toPrompt('Roundhouse', 'one two three four '.repeat(100).trim())!;
    expect(prompt.length).toBeLessThanOrEqual('Roundhouse '.length + 200);
    expect(prompt).toMatch(/^Roundhouse (one|two|three|four) /);
  });
});

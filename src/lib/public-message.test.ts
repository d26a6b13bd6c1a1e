import { describe, expect, it } from 'vitest';
import { toPublicMessage } from './public-message.ts';

describe('what is shown of an engine text', () => {
  it('[ERR-38] an engine error message is cut to its first line', () => {
    expect(toPublicMessage('CUDA out of memory\nTraceback (most recent call last):\n  File "x"')).toBe(
      'CUDA out of memory',
    );
    expect(toPublicMessage('\n  first\r\nsecond')).toBe('first');
    expect(toPublicMessage('x'.repeat(1000)).length).toBe(300);
    expect(toPublicMessage('')).toBe('');
  });

  it.each([
    ['connect ECONNREFUSED 10.0.0.5:8000', 'connect ECONNREFUSED [address]'],
    ['POST http://vllm-a.internal:8000/v1/chat failed', 'POST [address] failed'],
    ['getaddrinfo ENOTFOUND gpu-3.cluster.local', 'getaddrinfo ENOTFOUND [address]'],
    ['could not reach gpu-box:8000', 'could not reach [address]'],
    ['connect to [fd00::12]:9000 failed', 'connect to [address] failed'],
    ['no file /srv/models/qwen/config.json', 'no file [path]'],
    ['no file C:\\models\\qwen\\config.json here', 'no file [path] here'],
    ['boom at Engine.run (engine.js:1:2)', 'boom'],
    ['File "/usr/lib/python3/x.py", line 3', 'File "[path]", line 3'],
    ['redis://user:pass@cache:6379/0 is down', '[address] is down'],
  ])('[ERR-39] shows no internals: %s', (text, shown) => {
    expect(toPublicMessage(text)).toBe(shown);
  });

  it('leaves ordinary words alone', () => {
    for (const text of [
      "This model's maximum context length is 4096 tokens, however you requested 5000 tokens (1/2).",
      'temperature must be in [0, 2], got 3.5',
      'Qwen/Qwen3-8B does not support tools; use text/plain or image/png',
      'ratio 16:9 is not supported at 12:30',
    ]) {
      expect(toPublicMessage(text)).toBe(text);
    }
  });
});

import { expect, it } from 'vitest';
import { type Content, firstPiece, inMemory, toContent } from './content.ts';

async function piecesOf(content: Content): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of content.pieces()) pieces.push(Buffer.from(piece).toString());
  return pieces;
}

it('in memory it is one behind the other, as often as it is read, and joined only for those who want it', async () => {
  const content = inMemory([Buffer.from('ab'), Buffer.from('cde')]);
  expect(content.length).toBe(5);
  expect(await piecesOf(content)).toEqual(['ab', 'cde']);
  expect(await piecesOf(content)).toEqual(['ab', 'cde']);
  expect(String(await content.toBuffer())).toBe('abcde');
  expect(String(await firstPiece(content))).toBe('ab');
  expect(await firstPiece(inMemory([]))).toHaveLength(0);
});

it('one buffer stays that buffer, and what is content stays content', async () => {
  const bytes = Buffer.from('whole');
  expect(await toContent(bytes).toBuffer()).toBe(bytes);
  const content = inMemory([bytes]);
  expect(toContent(content)).toBe(content);
});

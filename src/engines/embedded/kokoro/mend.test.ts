import { describe, expect, it } from 'vitest';
import { mendModel } from './mend.ts';

const name = (field: number, value: string) =>
  Buffer.concat([Buffer.from([(field << 3) | 2, value.length]), Buffer.from(value)]);
const prefix = '/decoder/decoder/generator/';
const division = Buffer.concat([
  name(1, `${prefix}Gather_5_output_0`),
  name(1, `${prefix}Gather_4_output_0`),
  name(2, `${prefix}Div_output_0`),
]);

describe('a model whose division can go wrong', () => {
  const file = Buffer.concat([Buffer.from('before'), division, Buffer.from('after')]);
  const result = mendModel(file);

  it('divides by another number of the same length, and is as it was otherwise', () => {
    const changed = [...file.entries()].filter(([index, byte]) => result[index] !== byte);
    expect(changed).toHaveLength(1);
    expect(result.toString('latin1', 0, file.length)).toContain('Gather_Z_output_0');
  });

  it('has a second graph at its end, which is merged with the first', () => {
    const added = result.subarray(file.length);
    expect(added[0]).toBe((7 << 3) | 2);
    // The length of what follows, in seven bits at a time.
    expect((added[1]! & 0x7f) + (added[2]! << 7)).toBe(added.length - 3);
    for (const word of ['Equal', 'Where', 'least_divisor']) expect(added.includes(word)).toBe(true);
  });
});

it('another model is left as it is', () => {
  const file = Buffer.from('another model');
  expect(mendModel(file)).toBe(file);
});

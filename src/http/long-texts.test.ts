import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { watchLoop } from '../../test/support/loop-watch.ts';
import { parseJson } from './json.ts';
import { cutLongTexts } from './long-texts.ts';

const long = `data:image/png;base64,${randomBytes(90_000).toString('base64')}`;
const other = `data:;base64,${randomBytes(70_000).toString('base64')}`;
const cut = (text: string) => cutLongTexts(Buffer.from(text));

describe('files inside of JSON', () => {
  it.each([
    ['in an object', { model: 'm', image: long, n: 1 }],
    ['in lists and beside others', { images: [{ image_url: long }, { image_url: other }, 'x'], mask: long }],
    ['between texts of any kind', { a: 'Straße "Ü" \\ \n', b: long, c: ';base64,', d: '日本' }],
    ['alone', long],
    ['under names that are numbers, and __proto__', JSON.parse(`{"1":"${long}","__proto__":"${other}"}`)],
  ])('%s are cut out and put back', (_, value) => {
    const text = JSON.stringify(value);
    const body = cut(text);
    expect(body?.rest.length).toBeLessThan(500);
    expect(parseJson(Buffer.from(text))).toEqual(value);
    expect(parseJson(Buffer.from(JSON.stringify(value, null, 2)))).toEqual(value);
  });

  it.each([
    ['that are short', JSON.stringify({ image: long.slice(0, 1000) })],
    ['with escapes', JSON.stringify({ image: long }).replaceAll('/', '\\/')],
    ['with what is not ASCII', JSON.stringify({ image: `${long}ü` })],
    ['behind an escaped quote', JSON.stringify({ image: `"${long}` })],
    ['as names', JSON.stringify({ [long]: 1 })],
    ['behind much other text', JSON.stringify({ text: 'x'.repeat(1000) + long })],
  ])('%s are left to the parser', (_, text) => {
    expect(cut(text)).toBeUndefined();
    expect(parseJson(Buffer.from(text))).toEqual(JSON.parse(text));
  });

  it('do not make JSON of what is none', () => {
    for (const text of [
      `{"a":"${long}"`,
      `{"a":"${long}`,
      `{"a":"b";base64,${'A'.repeat(90_000)}"}`,
      `{"a":;base64,${'A'.repeat(90_000)}"}`,
      `;base64,${'A'.repeat(90_000)}"`,
      `{"a":"${long}""b":1}`,
      `{"a":"${long}"}}`,
      `{"a":"${long}\n${long}"}`,
    ])
      expect(() => parseJson(Buffer.from(text)), text.slice(0, 40)).toThrow('The body is not valid JSON');
  });

  it('have no control character at any place, as JSON wants it', () => {
    const plain = `["${long}"]`;
    const first = plain.indexOf(';base64,');
    const places = [0, 1, 2, 3].flatMap((by) => [
      2 + by,
      first - by,
      first + 40_001 + by,
      plain.length - 3 - by,
    ]);
    for (const shift of [0, 1, 2, 3])
      for (const byte of [0x00, 0x09, 0x0d, 0x1f])
        for (const place of places) {
          const body = Buffer.from(' '.repeat(shift) + plain);
          body[shift + place] = byte;
          // In the marker itself it is none any more.
          expect(() => parseJson(body), `${byte} at ${place}`).toThrow('The body is not valid JSON');
        }
    expect(parseJson(Buffer.from(plain))).toEqual([long]);
  });

  it('cannot be asked for by a text that looks like their place', () => {
    const body = cut(JSON.stringify({ image: long }));
    const place = /"([0-9a-f]{32})0"/.exec(String(body?.rest))?.[1];
    expect(place).toBeDefined();
    expect(parseJson(Buffer.from(JSON.stringify({ image: long, text: `${place}0` })))).toMatchObject({
      text: `${place}0`,
    });
  });

  it.each([
    ['one text full of markers', `{"a":"${';base64,'.repeat(2_000_000)}"}`],
    ['many texts with one', `[${Array.from({ length: 150_000 }, () => '"data:;base64,AAAA"').join()}]`],
    ['many that end nowhere', `"${'";base64,'.repeat(1_000_000)}`],
    ['spaces behind one', `["${long}"${' '.repeat(5_000_000)}]`],
  ])('%s is looked at as quickly', (_, text) => {
    const body = Buffer.from(text);
    const before = process.threadCpuUsage();
    cutLongTexts(body);
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(100);
  });

  it('of many megabytes keep nobody waiting for long', async () => {
    const text = JSON.stringify({ image: `data:;base64,${randomBytes(20e6).toString('base64')}` });
    const body = Buffer.from(text);
    parseJson(body);
    const watch = watchLoop();
    await new Promise((resolve) => setTimeout(resolve, 20));
    parseJson(body);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(watch.stop().longestMs).toBeLessThan(100);
  });
});

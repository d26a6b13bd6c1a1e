import { describe, expect, it } from 'vitest';
import { sniffContainer } from './container.ts';

/** Layer III, 128 kbit/s, 44.1 kHz: 417 bytes. */
const mp3Frame = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x00]), Buffer.alloc(413)]);
/** 100 bytes long. */
const aacFrame = Buffer.concat([Buffer.from([0xff, 0xf1, 0x50, 0x80, 0x0c, 0x9f, 0xfc]), Buffer.alloc(93)]);
const text = (value: string) => Buffer.from(value, 'latin1');
const tag = (size: number) =>
  Buffer.concat([text('ID3\x04\0\0'), Buffer.from([0, 0, size >> 7, size & 127]), Buffer.alloc(size)]);

describe('a container', () => {
  it.each([
    ['wav', text('RIFF\x24\0\0\0WAVEfmt ')],
    ['wav', text('RF64\xff\xff\xff\xffWAVEds64')],
    ['flac', text('fLaC\0\0\0\x22')],
    ['flac', Buffer.concat([tag(300), text('fLaC')])],
    ['ogg', text('OggS\0\x02')],
    ['matroska', text('\x1a\x45\xdf\xa3\x9f\x42')],
    ['mp4', text('\0\0\0\x20ftypM4A ')],
    ['mp4', text('\0\0\x10\0moov')],
    ['mov', text('\0\0\0\x14ftypqt  ')],
    ['mp3', Buffer.concat([mp3Frame, mp3Frame])],
    ['mp3', Buffer.concat([tag(300), tag(5), mp3Frame, mp3Frame])],
    ['mp3', Buffer.concat([Buffer.alloc(5_000), mp3Frame, mp3Frame])],
    ['mp3', mp3Frame],
    ['aac', Buffer.concat([aacFrame, aacFrame])],
    ['aac', Buffer.concat([tag(40), aacFrame, aacFrame])],
  ])('is told from the bytes: %s', (container, bytes) => {
    expect(sniffContainer(bytes)).toBe(container);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a playlist', text('#EXTM3U\n#EXTINF:1,\n/etc/passwd\n')],
    ['a playlist behind a tag', Buffer.concat([tag(0), text('#EXTM3U\n/etc/passwd\n')])],
    ['a list of files', text("ffconcat version 1.0\nfile '/etc/passwd'\n")],
    ['a picture', text('\x89PNG\r\n\x1a\n')],
    ['a RIFF of another form', text('RIFF\x24\0\0\0AVI LIST')],
    ['a sync word alone', Buffer.concat([mp3Frame.subarray(0, 4), Buffer.alloc(1_000)])],
    ['a frame of MP3 and one of AAC', Buffer.concat([mp3Frame, aacFrame])],
    ['bytes of 255', Buffer.alloc(20_000, 255)],
    ['a container behind a tag', Buffer.concat([tag(0), text('OggS\0\x02')])],
  ])('is none: %s', (_name, bytes) => {
    expect(sniffContainer(bytes)).toBeUndefined();
  });
});

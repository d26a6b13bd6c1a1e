/**
 * Broken, truncated, mislabelled and hostile files, generated in code. Nothing here is a recorded attack: each
 * file does one thing that a parser, a decoder or a playlist reader could fall for.
 */
import { deflateSync } from 'node:zlib';

export interface HostileFile {
  readonly name: string;
  readonly bytes: Buffer;
}

export interface Bait {
  /** A real sound file on disk that must never be read. */
  readonly path: string;
  /** A server that must never be called. */
  readonly url: string;
}

/** Real short files to break, by format. */
export type SoundSamples = Readonly<Record<'wav' | 'mp3' | 'flac' | 'm4a' | 'ogg' | 'webm' | 'aac', Buffer>>;

export function makeHostileFiles(samples: SoundSamples, bait: Bait): HostileFile[] {
  return [
    ...playlists(bait),
    ...disguisedPlaylists(samples, bait),
    ...referencesInContainers(samples, bait),
    ...waves(samples.wav),
    ...flacs(samples.flac),
    ...oggs(samples.ogg),
    ...mp3s(samples.mp3),
    ...mp4s(samples.m4a),
    ...matroskas(samples.webm),
    ...adts(samples.aac),
    ...otherKinds(),
    ...truncated(samples),
    ...scratched(samples),
    ...wrongBeginnings(samples),
  ];
}

function file(name: string, ...parts: (Buffer | string | number[])[]): HostileFile {
  const bytes = parts.map((part) =>
    typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part as Buffer),
  );
  return { name, bytes: Buffer.concat(bytes) };
}

/** The same bytes in every run. */
function noise(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed * 2654435761;
  for (let i = 0; i < length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[i] = state & 0xff;
  }
  return bytes;
}

function u16le(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32le(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u32be(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function u64be(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

const most = 0xffffffff;

function playlists({ path, url }: Bait): HostileFile[] {
  const hls = (target: string) =>
    `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n${target}\n#EXT-X-ENDLIST\n`;
  return [
    file('hls that names a file', hls(path)),
    file('hls that names a file as a url', hls(`file://${path}`)),
    file('hls that names a server', hls(url)),
    file('hls that joins a file to a server', hls(`concat:${path}|${url}`)),
    file('hls whose key is a file', `#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="${path}"\n#EXTINF:1,\n${url}\n`),
    file('hls whose map is a file', `#EXTM3U\n#EXT-X-MAP:URI="file://${path}"\n#EXTINF:1,\n${path}\n`),
    file('hls master list', `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${url}/list.m3u8\n`),
    file('hls with a byte order mark', '\xef\xbb\xbf', hls(path)),
    file('hls with a subfile', hls(`subfile,,start,0,end,0,,:${path}`)),
    file('concat list of a file', `ffconcat version 1.0\nfile '${path}'\nduration 7\n`),
    file('concat list of a server', `ffconcat version 1.0\nfile ${url}\n`),
    file(
      'concat list with options',
      `ffconcat version 1.0\nfile '${path}'\noption safe 0\noption protocol_whitelist file\n`,
    ),
    file(
      'dash manifest',
      `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period><BaseURL>${url}</BaseURL>`,
      `<AdaptationSet mimeType="audio/mp4"><Representation id="1" bandwidth="1"><BaseURL>file://${path}</BaseURL>`,
      '</Representation></AdaptationSet></Period></MPD>',
    ),
    file(
      'smooth streaming manifest',
      `<SmoothStreamingMedia><StreamIndex Url="${url}"/></SmoothStreamingMedia>`,
    ),
    file(
      'session description',
      `v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\na=control:${url}\r\n`,
    ),
    file('pls playlist', `[playlist]\nNumberOfEntries=1\nFile1=${path}\n`),
    file('asx playlist', `<asx version="3.0"><entry><ref href="${url}"/></entry></asx>`),
    file(
      'xspf playlist',
      `<playlist version="1"><trackList><track><location>file://${path}</location></track></trackList></playlist>`,
    ),
    file('real audio pointer', `${url.replace('http', 'rtsp')}\n`),
    file('avisynth script', `DirectShowSource("${path}")\n`),
    file('image pattern', `${path}%03d.png\n`),
    file(
      'svg that includes a file',
      `<svg xmlns="http://www.w3.org/2000/svg"><image href="file://${path}"/></svg>`,
    ),
    file('xml with an entity of a file', `<!DOCTYPE a [<!ENTITY b SYSTEM "file://${path}">]><MPD>&b;</MPD>`),
    file('lavfi graph', `amovie=${path}`),
    file('bare path', path),
    file('bare url', url),
  ];
}

function disguisedPlaylists({ mp3, wav }: SoundSamples, { path, url }: Bait): HostileFile[] {
  const hls = `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile://${path}\n#EXTINF:10,\n${url}\n#EXT-X-ENDLIST\n`;
  const concat = `ffconcat version 1.0\nfile '${path}'\n`;
  return [
    file('playlist behind an ID3 tag', 'ID3\x04\0\0\0\0\0\0', hls),
    file(
      'playlist inside an ID3 tag',
      'ID3\x04\0\0',
      [0, 0, (hls.length >> 7) & 127, hls.length & 127],
      hls,
      mp3,
    ),
    file('playlist behind a wave header', 'RIFF', u32le(hls.length + 4), 'WAVE', hls),
    file('playlist as the data of a wave', wav.subarray(0, 44), hls),
    file('playlist behind OggS', 'OggS', hls),
    file('playlist behind fLaC', 'fLaC', hls),
    file('playlist behind ftyp', u32be(8), 'ftyp', hls),
    file('playlist behind an EBML mark', '\x1a\x45\xdf\xa3', hls),
    file('playlist behind two frames of MP3', mp3.subarray(0, 1_000), hls),
    file('playlist behind a sound', mp3, hls),
    file('concat list behind an ID3 tag', 'ID3\x03\0\0\0\0\0\0', concat),
  ];
}

function box(type: string, ...content: (Buffer | string)[]): Buffer {
  const body = Buffer.concat(
    content.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)),
  );
  return Buffer.concat([u32be(body.length + 8), Buffer.from(type, 'latin1'), body]);
}

const zeros = (length: number) => Buffer.alloc(length);
const ftyp = box('ftyp', 'isom', u32be(0), 'isom');

interface Track {
  readonly dref?: Buffer;
  readonly stts?: Buffer;
  readonly stsz?: Buffer;
  readonly stco?: Buffer;
  readonly timescale?: number;
  readonly sampleRate?: number;
  readonly channels?: number;
}

/** A film of one track of plain samples; any part can be replaced. */
function movie(track: Track = {}): Buffer {
  const { timescale = 8_000, sampleRate = 8_000, channels = 1 } = track;
  const dref = track.dref ?? box('dref', u32be(0), u32be(1), box('url ', u32be(1)));
  const stts = track.stts ?? box('stts', u32be(0), u32be(1), u32be(1_000), u32be(1));
  const stsz = track.stsz ?? box('stsz', u32be(0), u32be(2), u32be(1_000));
  const stco = track.stco ?? box('stco', u32be(0), u32be(1), u32be(ftyp.length + 8));
  const channelBytes = Buffer.alloc(2);
  channelBytes.writeUInt16BE(channels);
  const rateBytes = Buffer.alloc(4);
  rateBytes.writeUInt16BE(sampleRate & 0xffff);
  const entry = box(
    'sowt',
    zeros(6),
    Buffer.from([0, 1]),
    zeros(8),
    channelBytes,
    Buffer.from([0, 16]),
    zeros(4),
    rateBytes,
  );
  const stsd = box('stsd', u32be(0), u32be(1), entry);
  const stsc = box('stsc', u32be(0), u32be(1), u32be(1), u32be(1_000), u32be(1));
  const stbl = box('stbl', stsd, stts, stsc, stsz, stco);
  const minf = box('minf', box('smhd', zeros(8)), box('dinf', dref), stbl);
  const mdhd = box('mdhd', zeros(12), u32be(timescale), u32be(1_000), zeros(4));
  const hdlr = box('hdlr', zeros(8), 'soun', zeros(12), '\0');
  const tkhd = box('tkhd', Buffer.from([0, 0, 0, 7]), zeros(8), u32be(1), zeros(4), u32be(1_000), zeros(60));
  const mvhd = box('mvhd', zeros(12), u32be(timescale), u32be(1_000), zeros(80));
  return box('moov', mvhd, box('trak', tkhd, box('mdia', mdhd, hdlr, minf)));
}

function referencesInContainers({ webm }: SoundSamples, { path, url }: Bait): HostileFile[] {
  const data = box('mdat', noise(2_000));
  const alias = Buffer.concat([
    zeros(150),
    Buffer.from([0, 2]),
    u16beText(path),
    Buffer.from([0xff, 0xff, 0, 0]),
  ]);
  return [
    file(
      'mov whose data lies in another file',
      ftyp,
      data,
      movie({ dref: box('dref', u32be(0), u32be(1), box('url ', u32be(0), `file://${path}\0`)) }),
    ),
    file(
      'mov whose data lies on a server',
      ftyp,
      data,
      movie({ dref: box('dref', u32be(0), u32be(1), box('url ', u32be(0), `${url}\0`)) }),
    ),
    file(
      'mov with an alias',
      ftyp,
      data,
      movie({ dref: box('dref', u32be(0), u32be(1), box('alis', u32be(0), alias)) }),
    ),
    file(
      'mov that refers to another film',
      box('moov', box('rmra', box('rmda', box('rdrf', u32be(0), 'url ', u32be(url.length + 1), `${url}\0`)))),
    ),
    file(
      'matroska that links to another file',
      webm.subarray(0, 40),
      element([0x3e, 0x83, 0xbb], Buffer.from(path)),
      webm.subarray(40),
    ),
    file(
      'wave with a list that names a file',
      'RIFF',
      u32le(most),
      'WAVE',
      'LIST',
      u32le(path.length + 12),
      'INFOIFIL',
      u32le(path.length),
      path,
    ),
  ];
}

function u16beText(text: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length);
  return Buffer.concat([length, Buffer.from(text)]);
}

interface WaveFormat {
  readonly tag?: number;
  readonly channels?: number;
  readonly rate?: number;
  readonly align?: number;
  readonly bits?: number;
  readonly formatSize?: number;
  readonly dataSize?: number;
  readonly riffSize?: number;
}

function wave(given: WaveFormat, data: Buffer): Buffer {
  const { tag = 1, channels = 1, rate = 16_000, bits = 16, formatSize = 16 } = given;
  const { align = 2, dataSize = data.length, riffSize = data.length + 36 } = given;
  return Buffer.concat([
    Buffer.from('RIFF'),
    u32le(riffSize),
    Buffer.from('WAVEfmt '),
    u32le(formatSize),
    u16le(tag),
    u16le(channels),
    u32le(rate),
    u32le((rate * align) % 2 ** 32),
    u16le(align),
    u16le(bits),
    Buffer.from('data'),
    u32le(dataSize),
    data,
  ]);
}

function waves(wav: Buffer): HostileFile[] {
  const data = noise(32_000);
  const odd: [string, WaveFormat][] = [
    ['whose whole size is the largest there is', { riffSize: most }],
    ['whose data size is the largest there is', { dataSize: most }],
    ['whose sizes are all the largest', { dataSize: most, riffSize: most, formatSize: most }],
    ['whose data size is 0', { dataSize: 0 }],
    ['whose data size is negative', { dataSize: 0x80000000 }],
    ['whose format size is 0', { formatSize: 0 }],
    ['whose format size is the largest', { formatSize: most }],
    ['of 0 Hz', { rate: 0 }],
    ['of 1 Hz', { rate: 1 }],
    ['of 4 GHz', { rate: most }],
    ['of 2 GHz', { rate: 0x7fffffff }],
    ['of 768 kHz', { rate: 768_000 }],
    ['of 0 channels', { channels: 0 }],
    ['of 65,535 channels', { channels: 65_535 }],
    ['of 255 channels', { channels: 255, align: 510 }],
    ['of 9 channels', { channels: 9, align: 18 }],
    ['of 0 bits', { bits: 0 }],
    ['of 65,535 bits', { bits: 65_535 }],
    ['of 7 bits', { bits: 7 }],
    ['with blocks of 0', { align: 0 }],
    ['with blocks of 65,535', { align: 65_535 }],
    ['of an unknown codec', { tag: 0xffff }],
    ['that says MP3 and is none', { tag: 0x55 }],
    ['that says AAC and is none', { tag: 0xff }],
    ['that says ADPCM and is none', { tag: 0x02, align: 256, bits: 4 }],
    ['that says GSM and is none', { tag: 0x31, align: 65, bits: 0 }],
    ['that says ATRAC and is none', { tag: 0x270, align: 192 }],
  ];
  const chunk = Buffer.concat([Buffer.from('junk'), u32le(0)]);
  return [
    ...odd.map(([name, format]) => file(`wave ${name}`, wave(format, data))),
    file('wave without a format', 'RIFF', u32le(100), 'WAVEdata', u32le(100), noise(100)),
    file('wave without data', wav.subarray(0, 36)),
    file('wave of no sample', wave({}, Buffer.alloc(0))),
    file('wave of half a sample', wave({}, Buffer.alloc(1))),
    file(
      'wave with ten thousand empty chunks',
      'RIFF',
      u32le(most),
      'WAVE',
      Buffer.concat(Array(10_000).fill(chunk)),
    ),
    file(
      'waves inside waves',
      ...Array.from({ length: 500 }, () =>
        Buffer.concat([Buffer.from('RIFF'), u32le(most), Buffer.from('WAVE')]),
      ),
    ),
    file(
      'RF64 of the largest size',
      'RF64',
      u32le(most),
      'WAVEds64',
      u32le(28),
      u64be((1n << 64n) - 1n),
      u64be((1n << 64n) - 1n),
      zeros(12),
      wav.subarray(12),
    ),
    file('RF64 without its sizes', 'RF64', u32le(most), 'WAVE', wav.subarray(12)),
  ];
}

/** STREAMINFO: block sizes, 20 bits of rate, 3 of channels, 5 of depth, 36 of samples. */
function streamInfo(rate: number, channels: number, samples: bigint): Buffer {
  const packed = (BigInt(rate) << 44n) | (BigInt(channels - 1) << 41n) | (15n << 36n) | samples;
  const body = Buffer.concat([Buffer.from([0x10, 0, 0x10, 0, 0, 0, 0, 0, 0, 0]), u64be(packed), zeros(16)]);
  return Buffer.concat([Buffer.from([0x80, 0, 0, body.length]), body]);
}

function flacs(flac: Buffer): HostileFile[] {
  // The sample's own metadata is one block of 34 bytes, then the rest.
  const frames = flac.subarray(flac.indexOf(Buffer.from([0xff, 0xf8]), 42));
  const lastBlock = (type: number, size: number) =>
    Buffer.from([0x80 | type, (size >> 16) & 255, (size >> 8) & 255, size & 255]);
  return [
    file('flac that claims two thousand years', 'fLaC', streamInfo(1, 1, (1n << 36n) - 1n), frames),
    file('flac that claims 18 days', 'fLaC', streamInfo(44_100, 1, (1n << 36n) - 1n), frames),
    file('flac that claims no length', 'fLaC', streamInfo(24_000, 1, 0n), frames),
    file('flac of 0 Hz', 'fLaC', streamInfo(0, 1, 1_000n), frames),
    file('flac of 1 MHz', 'fLaC', streamInfo(0xfffff, 1, 1_000n), frames),
    file('flac that claims 8 channels and has one', 'fLaC', streamInfo(24_000, 8, 1_000n), frames),
    file(
      'flac with a picture of 16 MB that is not there',
      'fLaC',
      Buffer.from([0x06, 0xff, 0xff, 0xff]),
      noise(100),
    ),
    file(
      'flac with a picture whose parts are the largest',
      'fLaC',
      Buffer.from(streamInfo(24_000, 1, 0n).with(0, 0)),
      lastBlock(6, 32),
      u32be(3),
      u32be(most),
      zeros(24),
      frames,
    ),
    file(
      'flac with comments without end',
      'fLaC',
      Buffer.from(streamInfo(24_000, 1, 0n).with(0, 0)),
      lastBlock(4, 8),
      u32le(most),
      u32le(most),
      frames,
    ),
    file(
      'flac with ten thousand blocks',
      'fLaC',
      Buffer.concat(Array(10_000).fill(Buffer.from([1, 0, 0, 0]))),
      frames,
    ),
    file('flac of noise', 'fLaC', streamInfo(24_000, 1, 0n), noise(50_000)),
    file('flac of nothing', 'fLaC', streamInfo(24_000, 1, 0n)),
    file('flac mark alone', 'fLaC'),
    file(
      'flac whose frames are sync words',
      'fLaC',
      streamInfo(24_000, 1, 0n),
      Buffer.concat(Array(20_000).fill(Buffer.from([0xff, 0xf8]))),
    ),
  ];
}

function oggPage(flags: number, granule: bigint, serial: number, body: Buffer): Buffer {
  const segments = Buffer.alloc(Math.min(255, Math.ceil((body.length + 1) / 255)), 255);
  segments[segments.length - 1] = body.length % 255;
  const position = Buffer.alloc(8);
  position.writeBigUInt64LE(granule);
  return Buffer.concat([
    Buffer.from('OggS'),
    Buffer.from([0, flags]),
    position,
    u32le(serial),
    zeros(8),
    Buffer.from([segments.length]),
    segments,
    body,
  ]);
}

function oggs(ogg: Buffer): HostileFile[] {
  const head = Buffer.concat([
    Buffer.from('OpusHead'),
    Buffer.from([1, 1]),
    zeros(2),
    u32le(48_000),
    zeros(3),
  ]);
  const lastPage = ogg.lastIndexOf('OggS');
  const hugeEnd = Buffer.from(ogg);
  hugeEnd.writeBigUInt64LE((1n << 62n) - 1n, lastPage + 6);
  const negativeEnd = Buffer.from(ogg);
  negativeEnd.writeBigUInt64LE(1n << 63n, lastPage + 6);
  const channels = Buffer.from(ogg);
  channels[channels.indexOf('OpusHead') + 9] = 255;
  const skip = Buffer.from(ogg);
  skip.writeUInt16LE(65_535, skip.indexOf('OpusHead') + 10);
  return [
    file('ogg that ends in a million years', hugeEnd),
    file('ogg that ends before it begins', negativeEnd),
    file('ogg opus of 255 channels', channels),
    file('ogg opus that skips all of itself', skip),
    file(
      'ogg of ten thousand streams',
      Buffer.concat(Array.from({ length: 10_000 }, (_, i) => oggPage(2, 0n, i, head))),
    ),
    file('ogg chained a hundred times', Buffer.concat(Array(100).fill(ogg))),
    file('ogg of empty pages', Buffer.concat(Array(20_000).fill(oggPage(0, 0n, 1, Buffer.alloc(0))))),
    file('ogg of page marks', 'OggS'.repeat(10_000)),
    file('ogg of noise', oggPage(2, 0n, 1, head), noise(50_000)),
    file(
      'ogg that says vorbis and is none',
      oggPage(2, 0n, 1, Buffer.concat([Buffer.from('\x01vorbis'), noise(23)])),
      oggPage(0, 0n, 1, noise(60_000)),
    ),
    file(
      'ogg that says theora',
      oggPage(2, 0n, 1, Buffer.concat([Buffer.from('\x80theora'), noise(35)])),
      oggPage(0, 0n, 1, noise(60_000)),
    ),
    file(
      'ogg with comments without end',
      oggPage(2, 0n, 1, head),
      oggPage(0, 0n, 1, Buffer.concat([Buffer.from('OpusTags'), u32le(most), u32le(most)])),
    ),
    file(
      'ogg that says flac and claims years',
      oggPage(
        2,
        0n,
        1,
        Buffer.concat([
          Buffer.from('\x7fFLAC\x01\0\0\x01fLaC', 'latin1'),
          streamInfo(1, 8, (1n << 36n) - 1n),
        ]),
      ),
      noise(1_000),
    ),
  ];
}

function tag(size: number, content: Buffer | string = ''): Buffer {
  const bytes = [21, 14, 7, 0].map((shift) => (size >> shift) & 127);
  return Buffer.concat([Buffer.from('ID3\x04\0\0'), Buffer.from(bytes), Buffer.from(content)]);
}

function mp3s(mp3: Buffer): HostileFile[] {
  const header = Buffer.from([0xff, 0xfb, 0x90, 0x00]);
  const noisy = Buffer.concat(
    Array.from({ length: 200 }, (_, i) => Buffer.concat([header, noise(413, i + 1)])),
  );
  const xing = Buffer.concat([
    header,
    zeros(32),
    Buffer.from('Xing'),
    u32be(0x0f),
    u32be(most),
    u32be(most),
    zeros(104),
  ]);
  let nested = mp3;
  for (let i = 0; i < 5; i++) nested = Buffer.concat([tag(0), nested]);
  const picture = Buffer.concat([
    Buffer.from('APIC'),
    Buffer.from([0x7f, 0x7f, 0x7f, 0x7f]),
    zeros(2),
    noise(100),
  ]);
  const packed = deflateSync(Buffer.alloc(20_000_000));
  const bomb = Buffer.concat([
    Buffer.from('TXXX'),
    sync(packed.length + 4),
    Buffer.from([0, 0x09]),
    sync(20_000_000),
    packed,
  ]);
  return [
    file('mp3 behind five empty tags', nested),
    file('mp3 behind a thousand tags', Buffer.concat(Array(1_000).fill(tag(0))), mp3),
    file('mp3 behind tags inside tags', tag(30, tag(20, tag(10, zeros(10)))), mp3),
    file('tag larger than its file', tag(0x0fffffff), mp3),
    file('tag alone', tag(0)),
    file('tag with a picture larger than itself', tag(picture.length, picture), mp3),
    file('tag with a packed text of 20 MB', tag(bomb.length, bomb), mp3),
    file('mp3 whose frames are noise', noisy),
    file(
      'mp3 that claims four billion frames',
      xing,
      Buffer.concat(Array(20).fill(Buffer.concat([header, zeros(413)]))),
    ),
    file('bytes of 255', Buffer.alloc(100_000, 255)),
    file('mp3 of headers alone', Buffer.concat(Array(20_000).fill(header))),
    file(
      'mp3 that changes its rate with every frame',
      Buffer.concat(Array.from({ length: 400 }, (_, i) => rateFrame(i))),
    ),
    file(
      'mp3 of the freest bit rate',
      Buffer.concat(Array(500).fill(Buffer.concat([Buffer.from([0xff, 0xfb, 0x00, 0x00]), zeros(100)]))),
    ),
    file('mp3 behind 10 kB of zeros', zeros(10_000), mp3),
    file('mp3 behind 1 MB of zeros', zeros(1_000_000), mp3),
    file('mp3 between two others', mp3, noise(5_000), mp3),
  ];
}

function sync(size: number): Buffer {
  return Buffer.from([21, 14, 7, 0].map((shift) => (size >> shift) & 127));
}

/** 44.1, 48 and 32 kHz in turn, mono and stereo. */
function rateFrame(number: number): Buffer {
  const rate = number % 3;
  const bytes = Math.floor((144_000 * 128) / [44_100, 48_000, 32_000][rate]!);
  return Buffer.concat([
    Buffer.from([0xff, 0xfb, 0x90 | (rate << 2), number % 2 === 0 ? 0xc0 : 0x00]),
    zeros(bytes - 4),
  ]);
}

function mp4s(m4a: Buffer): HostileFile[] {
  const data = box('mdat', noise(2_000));
  let deep: Buffer = zeros(0);
  for (let i = 0; i < 5_000; i++) deep = box('moov', deep);
  let wide: Buffer = zeros(0);
  for (let i = 0; i < 300; i++) wide = box('udta', box('meta', zeros(4), wide));
  const packed = deflateSync(Buffer.alloc(50_000_000));
  const table = (type: string, ...values: number[]) => box(type, ...values.map(u32be));
  return [
    file('mp4 of plain samples', ftyp, data, movie()),
    file('mp4 of a head alone', ftyp),
    file('mp4 without an index', ftyp, data),
    file('mp4 without data', ftyp, movie()),
    file(
      'mp4 with a box to the end inside another',
      ftyp,
      u32be(100),
      'moov',
      u32be(0),
      'trak',
      u32be(0),
      'mdia',
    ),
    file('mp4 with a box that is shorter than its head', ftyp, u32be(3), 'moov', noise(100)),
    file('mp4 with a box of 8 exabytes', ftyp, u32be(1), 'moov', u64be((1n << 63n) - 1n), movie()),
    file('mp4 with a box of a negative size', ftyp, u32be(1), 'mdat', u64be(1n << 63n), movie()),
    file('mp4 that is deep', ftyp, deep),
    file('mp4 whose notes are deep', ftyp, box('moov', wide)),
    file(
      'mp4 with four billion samples',
      ftyp,
      data,
      movie({ stsz: table('stsz', 0, 0, most), stts: table('stts', 0, 1, most, 1) }),
    ),
    file('mp4 with four billion times', ftyp, data, movie({ stts: table('stts', 0, most, 1, 1) })),
    file('mp4 whose samples last for ever', ftyp, data, movie({ stts: table('stts', 0, 1, 1_000, most) })),
    file('mp4 with samples of 4 GB', ftyp, data, movie({ stsz: table('stsz', 0, most, 1_000) })),
    file('mp4 whose chunks lie outside', ftyp, data, movie({ stco: table('stco', 0, 1, most) })),
    file('mp4 whose chunks lie in its index', ftyp, data, movie({ stco: table('stco', 0, 4, 0, 8, 16, 24) })),
    file('mp4 with four billion chunks', ftyp, data, movie({ stco: table('stco', 0, most, 8) })),
    file('mp4 without a timescale', ftyp, data, movie({ timescale: 0 })),
    file('mp4 with the finest timescale', ftyp, data, movie({ timescale: most })),
    file('mp4 of 0 Hz', ftyp, data, movie({ sampleRate: 0 })),
    file('mp4 of 65,535 channels', ftyp, data, movie({ channels: 65_535 })),
    file(
      'mp4 whose index is packed and has 50 MB',
      ftyp,
      box('moov', box('cmov', box('dcom', 'zlib'), box('cmvd', u32be(50_000_000), packed))),
    ),
    file(
      'mp4 whose packed index claims 4 GB',
      ftyp,
      box('moov', box('cmov', box('dcom', 'zlib'), box('cmvd', u32be(most), packed.subarray(0, 100)))),
    ),
    file(
      'mp4 whose pieces point at themselves',
      ftyp,
      box('sidx', zeros(12), u32be(1), u32be(0), u32be(0), u32be(0x80000000), u32be(0), zeros(4)),
      box('moof', box('traf', box('trun', u32be(1), u32be(most)))),
    ),
    file(
      'mp4 with thousands of pieces',
      ftyp,
      movie(),
      Buffer.concat(
        Array(5_000).fill(
          box(
            'moof',
            box('mfhd', zeros(8)),
            box('traf', box('tfhd', u32be(0), u32be(1)), box('trun', u32be(0), u32be(0))),
          ),
        ),
      ),
    ),
    file('m4a twice', m4a, m4a),
    file('m4a whose boxes are shuffled', m4a.subarray(32), m4a.subarray(0, 32)),
    file('mp4 index in front of everything', movie(), ftyp, data),
  ];
}

function element(
  id: readonly number[],
  body: Buffer,
  size: readonly number[] = [0x10, (body.length >> 16) & 255, (body.length >> 8) & 255, body.length & 255],
): Buffer {
  return Buffer.concat([Buffer.from(id), Buffer.from(size), body]);
}

const ebmlHead = element([0x1a, 0x45, 0xdf, 0xa3], element([0x42, 0x82], Buffer.from('webm')));
const unknownSize = [0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
const segmentId = [0x18, 0x53, 0x80, 0x67];

function matroskas(webm: Buffer): HostileFile[] {
  const segment = (...parts: Buffer[]) => element(segmentId, Buffer.concat(parts), unknownSize);
  let deep: Buffer = zeros(0);
  for (let i = 0; i < 2_000; i++) deep = element([0x1f, 0x43, 0xb6, 0x75], deep);
  const seek = (target: readonly number[], at: number) =>
    element(
      [0x11, 0x4d, 0x9b, 0x74],
      element(
        [0x4d, 0xbb],
        Buffer.concat([element([0x53, 0xab], Buffer.from(target)), element([0x53, 0xac], u32be(at))]),
      ),
    );
  const packed = deflateSync(Buffer.alloc(100_000_000));
  const compression = element(
    [0x6d, 0x80],
    element([0x62, 0x40], element([0x50, 0x34], element([0x42, 0x54], Buffer.from([0])))),
  );
  const track = (rate: number, codec: string, ...extra: Buffer[]) => {
    const audio = element(
      [0xe1],
      Buffer.concat([element([0xb5], floating(rate)), element([0x9f], Buffer.from([1]))]),
    );
    const parts = [
      element([0xd7], Buffer.from([1])),
      element([0x73, 0xc5], Buffer.from([1])),
      element([0x83], Buffer.from([2])),
      element([0x86], Buffer.from(codec)),
      audio,
      ...extra,
    ];
    return element([0x16, 0x54, 0xae, 0x6b], element([0xae], Buffer.concat(parts)));
  };
  const cluster = (data: Buffer) =>
    element(
      [0x1f, 0x43, 0xb6, 0x75],
      Buffer.concat([
        element([0xe7], Buffer.from([0])),
        element([0xa3], Buffer.concat([Buffer.from([0x81, 0, 0, 0x80]), data])),
      ]),
      unknownSize,
    );
  return [
    file('webm of a head alone', ebmlHead),
    file('webm of an empty segment', ebmlHead, segment()),
    file('webm that is deep', ebmlHead, segment(deep)),
    file(
      'webm with an element of 72 petabytes',
      ebmlHead,
      Buffer.from(segmentId),
      Buffer.from([0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe]),
      Buffer.from([0x16, 0x54, 0xae, 0x6b, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe]),
    ),
    file(
      'webm whose index is itself',
      ebmlHead,
      segment(...Array(100).fill(seek([0x11, 0x4d, 0x9b, 0x74], 0))),
    ),
    file('webm whose cues lie at its end', ebmlHead, segment(seek([0x1c, 0x53, 0xbb, 0x6b], most))),
    file(
      'webm of a hundred thousand voids',
      ebmlHead,
      segment(Buffer.alloc(200_000, Buffer.from([0xec, 0x80]))),
    ),
    file('webm of 0 Hz', ebmlHead, segment(track(0, 'A_PCM/INT/LIT'), cluster(noise(2_000)))),
    file('webm of a billion Hz', ebmlHead, segment(track(1e9, 'A_PCM/INT/LIT'), cluster(noise(2_000)))),
    file(
      'webm of an infinite rate',
      ebmlHead,
      segment(track(Number.POSITIVE_INFINITY, 'A_PCM/INT/LIT'), cluster(noise(2_000))),
    ),
    file('webm of an unknown codec', ebmlHead, segment(track(16_000, 'A_NONESUCH'), cluster(noise(2_000)))),
    file('webm of noise that says opus', ebmlHead, segment(track(48_000, 'A_OPUS'), cluster(noise(20_000)))),
    file(
      'webm of noise that says vorbis',
      ebmlHead,
      segment(track(48_000, 'A_VORBIS', element([0x63, 0xa2], noise(3_000))), cluster(noise(20_000))),
    ),
    file(
      'webm whose packets are packed and have 100 MB',
      ebmlHead,
      segment(track(16_000, 'A_PCM/INT/LIT', compression), cluster(packed)),
    ),
    file(
      'webm with an attached font of 4 GB',
      ebmlHead,
      segment(
        element([0x19, 0x41, 0xa4, 0x69], Buffer.from([0x61, 0xa7, 0x01, 0, 0, 0, 0xff, 0xff, 0xff, 0xff])),
      ),
    ),
    file('webm of noise', ebmlHead, noise(50_000)),
    file('webm twice', webm, webm),
  ];
}

function floating(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}

function adtsFrame(rateIndex: number, channels: number, body: Buffer): Buffer {
  const length = body.length + 7;
  return Buffer.concat([
    Buffer.from([
      0xff,
      0xf1,
      0x40 | (rateIndex << 2) | (channels >> 2),
      ((channels & 3) << 6) | (length >> 11),
      (length >> 3) & 255,
      ((length & 7) << 5) | 0x1f,
      0xfc,
    ]),
    body,
  ]);
}

function adts(aac: Buffer): HostileFile[] {
  const many = (rate: number, channels: number, body: (i: number) => Buffer, count = 300) =>
    Buffer.concat(Array.from({ length: count }, (_, i) => adtsFrame(rate, channels, body(i))));
  return [
    file(
      'aac of a rate that does not exist',
      many(15, 1, () => noise(100)),
    ),
    file(
      'aac of no channels',
      many(4, 0, () => noise(100)),
    ),
    file(
      'aac of eight channels',
      many(4, 7, (i) => noise(200, i + 1)),
    ),
    file(
      'aac of noise',
      many(4, 1, (i) => noise(200, i + 1)),
    ),
    file(
      'aac of empty frames',
      many(4, 1, () => Buffer.alloc(1), 20_000),
    ),
    file(
      'aac of zeros',
      many(4, 1, () => zeros(200)),
    ),
    file(
      'aac that changes its rate with every frame',
      Buffer.concat(Array.from({ length: 300 }, (_, i) => adtsFrame(i % 12, 1 + (i % 2), zeros(100)))),
    ),
    file('aac behind a tag', tag(0), aac),
    file('aac with a hole', aac.subarray(0, 5_000), zeros(5_000), aac.subarray(5_000)),
  ];
}

/** Files of other kinds, under whatever name they come. */
function otherKinds(): HostileFile[] {
  const beginnings: [string, string][] = [
    ['png', '\x89PNG\r\n\x1a\n'],
    ['jpeg', '\xff\xd8\xff\xe0\0\x10JFIF'],
    ['gif', 'GIF89a'],
    ['zip', 'PK\x03\x04'],
    ['pdf', '%PDF-1.7\n'],
    ['elf', '\x7fELF\x02\x01\x01'],
    ['gzip', '\x1f\x8b\x08'],
    ['html', '<!doctype html><audio src="http://127.0.0.1/">'],
    ['script', '#!/bin/sh\nexit 1\n'],
    ['avi', 'RIFF\xff\xff\xff\x7fAVI LIST'],
    ['webp', 'RIFF\xff\xff\xff\x7fWEBPVP8 '],
    ['asf', '\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c'],
    ['aiff', 'FORM\0\0\xff\xffAIFFCOMM'],
    ['caf', 'caff\0\x01\0\0desc'],
    ['amr', '#!AMR\n'],
    ['au', '.snd\0\0\0\x18\xff\xff\xff\xff\0\0\0\x03'],
    ['midi', 'MThd\0\0\0\x06\0\x01\0\x7f\0\x60'],
    ['flv', 'FLV\x01\x05\0\0\0\x09'],
    ['transport stream', `\x47\x40\0\x10\0${'\xff'.repeat(183)}\x47\x40\0\x10\0${'\xff'.repeat(183)}`],
    ['module', 'IMPM'],
    ['subtitles', '1\n00:00:00,000 --> 00:00:01,000\nhi\n'],
    ['nut', 'nut/multimedia container\0'],
    ['matlab', 'MATLAB 5.0 MAT-file'],
  ];
  return [
    ...beginnings.map(([name, start], i) => file(`${name} as sound`, start, noise(4_000, i + 50))),
    file('nothing'),
    file('one byte', [0xff]),
    file('a megabyte of zeros', zeros(1_000_000)),
    file('a megabyte of noise', noise(1_000_000, 99)),
    file('text', 'This is not a sound. '.repeat(100)),
  ];
}

function truncated(samples: SoundSamples): HostileFile[] {
  return Object.entries(samples).flatMap(([format, bytes]) => {
    const ends = [
      5,
      16,
      44,
      100,
      Math.floor(bytes.length / 10),
      Math.floor(bytes.length / 2),
      bytes.length - 1,
    ];
    return ends.map((end) => file(`${format} cut at ${end}`, bytes.subarray(0, end)));
  });
}

/** With one byte in a hundred, or in ten, replaced: in the head too. */
function scratched(samples: SoundSamples): HostileFile[] {
  return Object.entries(samples).flatMap(([format, bytes]) =>
    [10, 100, 1_000].map((every, seed) => {
      const broken = Buffer.from(bytes);
      const places = noise(Math.ceil(bytes.length / every) * 4, seed + 7);
      for (let i = 0; i + 4 <= places.length; i += 4)
        broken[places.readUInt32LE(i) % bytes.length] = places[i] ?? 0;
      return file(`${format} with a byte in ${every} wrong`, broken);
    }),
  );
}

/** The head of one with the body of another. */
function wrongBeginnings(samples: SoundSamples): HostileFile[] {
  const formats = Object.entries(samples);
  return formats.map(([format, bytes], i) => {
    const [other, body] = formats[(i + 1) % formats.length] ?? [format, bytes];
    return file(`${format} that goes on as ${other}`, bytes.subarray(0, 200), body.subarray(200));
  });
}

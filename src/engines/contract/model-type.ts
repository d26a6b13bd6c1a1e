/** What a model is for, in the order in which the reference names them. Every engine kind says which it serves. */
export const modelTypes = [
  'chat',
  'embedding',
  'image',
  'video',
  'music',
  'speech',
  'transcription',
  'decision',
  'rerank',
] as const;

export type ModelType = (typeof modelTypes)[number];

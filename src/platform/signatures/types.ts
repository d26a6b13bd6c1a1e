/** Signatures of the gateway's own: what it hands out and must know again later, in any of its processes. */
export interface Signatures {
  /** In base64. What is signed for one purpose is worth nothing for another. */
  sign(purpose: string, text: string): string;
  /** Whether `sign` made it. Never throws, whatever is given. */
  verify(purpose: string, text: string, signature: string): boolean;
}
